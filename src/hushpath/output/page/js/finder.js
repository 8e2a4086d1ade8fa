// A combobox to find a node by its name: type, arrow keys, Enter; usable with assistive technology.

const MOST_SHOWN = 30;

export class Finder {
  /**
   * @param {HTMLInputElement} input @param {HTMLElement} list @param {string[]} labels
   * @param {(node: number) => void} chosen  -1 if the box was emptied
   */
  constructor(input, list, labels, chosen) {
    this.input = input;
    this.list = list;
    this.labels = labels;
    this.lower = labels.map((one) => one.toLowerCase());
    this.chosen = chosen;
    this.active = -1;
    this.node = -1;
    /** @type {number[]} */
    this.found = [];
    input.addEventListener("input", () => this.look());
    input.addEventListener("focus", () => input.select());
    input.addEventListener("blur", () => setTimeout(() => this.put(this.node), 150));
    input.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = /** @type {HTMLElement} */ (event.target).closest("[role=option]");
      if (option) this.take(Number(option.getAttribute("data-node")));
    });
  }

  /** Show a node that was chosen elsewhere. @param {number} node */
  put(node) {
    this.node = node;
    this.input.value = node < 0 ? "" : this.labels[node];
    this.close();
  }

  look() {
    const asked = this.input.value.trim().toLowerCase();
    /** @type {number[][]} */
    const found = [[], [], []];
    if (asked) {
      for (let v = 0; v < this.lower.length; v++) {
        const at = this.lower[v].indexOf(asked);
        if (at < 0) continue;
        found[this.lower[v] === asked ? 0 : at === 0 ? 1 : 2].push(v);
        if (found[1].length >= MOST_SHOWN) break;
      }
    }
    this.found = found.flat().slice(0, MOST_SHOWN);
    this.active = this.found.length ? 0 : -1;
    this.list.replaceChildren(...this.found.map((node, i) => {
      const option = document.createElement("li");
      option.id = `${this.list.id}-${i}`;
      option.setAttribute("role", "option");
      option.setAttribute("data-node", String(node));
      option.textContent = this.labels[node];
      return option;
    }));
    if (asked && !this.found.length) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "No such node";
      this.list.append(none);
    }
    this.list.hidden = !asked;
    this.input.setAttribute("aria-expanded", String(Boolean(asked)));
    this.mark();
    if (!asked) {
      this.node = -1;
      this.chosen(-1);
    }
  }

  mark() {
    [...this.list.children].forEach((one, i) => one.setAttribute("aria-selected", String(i === this.active)));
    const active = this.list.children[this.active];
    if (this.active >= 0 && active) {
      this.input.setAttribute("aria-activedescendant", active.id);
      active.scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.look();
      const many = this.found.length;
      if (many) this.active = (this.active + (event.key === "ArrowDown" ? 1 : many - 1)) % many;
      this.mark();
    } else if (event.key === "Enter" && !this.list.hidden && this.active >= 0) this.take(this.found[this.active]);
    else if (event.key === "Escape") this.put(this.node); // discard what was typed
    else return;
    event.preventDefault();
  }

  /** @param {number} node */
  take(node) {
    this.put(node);
    this.chosen(node);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
