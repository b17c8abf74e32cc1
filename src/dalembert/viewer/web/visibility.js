// Which elements are seen: all, without the hidden ones, only one; and through which one sees. Elements are named by tags.

export class Visibility {
  constructor() {
    this.hidden = new Set();
    this.clear = new Set();
    this.only = null;
    this.chosen = null;
    this.listeners = [];
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  // "solid", "clear" or "hidden"; what has no tag belongs to the ground
  of(tag) {
    if (!tag) return "solid";
    if (this.hidden.has(tag) || (this.only && tag !== this.only)) return "hidden";
    return this.clear.has(tag) ? "clear" : "solid";
  }

  shows(tag) {
    return this.of(tag) !== "hidden";
  }

  hide(tag) {
    flip(this.hidden, tag);
    this.changed();
  }

  seeThrough(tag) {
    flip(this.clear, tag);
    this.changed();
  }

  isolate(tag) {
    this.only = this.only === tag ? null : tag;
    this.hidden.delete(tag);
    this.changed();
  }

  choose(tag) {
    this.chosen = tag;
    this.changed();
  }

  showAll() {
    this.hidden.clear();
    this.clear.clear();
    this.only = null;
    this.changed();
  }

  changed() {
    for (const listener of this.listeners) listener(this);
  }
}

function flip(set, tag) {
  if (!set.delete(tag)) set.add(tag);
}
