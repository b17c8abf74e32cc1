// The model tree: bodies, joints, drivers, forces and markers, to find, choose, hide, isolate and see through.

import { element, icon } from "./page.js";

const ACTS = { hide: ["h", "hide", "hidden"], clear: ["x", "see through", "clear"], only: ["i", "show only this", "only"] };

export class Tree {
  // choose(tag): called when a row is chosen
  constructor(parent, run, visibility, choose) {
    Object.assign(this, { visibility, choose });
    const head = element(parent, "header", "tree-head");
    this.search = element(head, "input", "search");
    Object.assign(this.search, { type: "search", placeholder: "find an element" });
    this.search.setAttribute("aria-label", "find an element");
    this.search.addEventListener("input", () => this.#filter());
    const all = element(head, "button", "small", "show all");
    all.type = "button";
    all.title = "show everything again (U)";
    all.addEventListener("click", () => visibility.showAll());
    this.none = element(parent, "p", "none");
    this.none.setAttribute("role", "status");
    this.list = element(parent, "div", "tree");
    this.list.setAttribute("role", "tree");
    this.list.setAttribute("aria-label", "elements of the model");
    const bodies = run.bodies.map((body, k) => ({ tag: `body ${k}`, name: body.name, more: "", colour: body.colour, marker: body.marker }));
    this.rows = [];
    this.#section("Bodies", bodies.filter(({ marker }) => !marker));
    this.#section("Joints", run.joints.map((joint, k) => ({ tag: `joint ${k}`, name: joint.name, more: `${joint.kind}, ${joint.joins.join(" – ")}` })));
    this.#section("Drivers", run.scene.drivers.map((driver, k) => ({ tag: `driver ${k}`, name: driver.name, more: driver.joint && `of ${driver.joint}` })));
    this.#section("Forces", run.scene.forces.map((force, k) => ({ tag: `force ${k}`, name: force.name, more: force.noun })));
    this.#section("Markers", bodies.filter(({ marker }) => marker));
    this.rows[0]?.row.setAttribute("tabindex", 0);
    this.list.addEventListener("keydown", (event) => this.#key(event));
    visibility.onChange(() => this.update());
  }

  #section(title, items) {
    if (!items.length) return;
    const box = element(this.list, "div");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", title);
    element(box, "h3", "", `${title} (${items.length})`);
    for (const { tag, name, more, colour } of items) {
      const row = element(box, "div", "row");
      row.setAttribute("role", "treeitem");
      row.setAttribute("tabindex", -1);
      if (colour) element(row, "i").style.background = colour;
      element(row, "span", "name", name).title = name;
      if (more) element(row, "small", "", more).title = more;
      row.addEventListener("click", () => {
        row.focus();
        this.choose(tag);
      });
      row.addEventListener("dblclick", () => this.focusOn?.(tag));
      const buttons = Object.entries(ACTS).map(([act, [key, text]]) => {
        const button = element(row, "button", "eye");
        Object.assign(button, { type: "button", title: `${text} (${key.toUpperCase()})`, tabIndex: -1 });
        button.setAttribute("aria-label", `${text}: ${name}`);
        icon(button, act);
        button.addEventListener("click", (event) => {
          event.stopPropagation();
          this.act(act, tag);
        });
        return [act, button];
      });
      this.rows.push({ tag, row, box, buttons, text: `${name} ${more}`.toLowerCase() });
    }
  }

  act(act, tag) {
    if (act === "hide") this.visibility.hide(tag);
    if (act === "clear") this.visibility.seeThrough(tag);
    if (act === "only") this.visibility.isolate(tag);
  }

  #filter() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const { row, text } of this.rows) row.hidden = !text.includes(wanted);
    this.none.textContent = this.rows.every(({ row }) => row.hidden) ? `no element has “${wanted}” in its name or kind` : "";
    for (const box of this.list.children) box.hidden = this.rows.every((one) => one.box !== box || one.row.hidden);
  }

  #key(event) {
    const seen = this.rows.filter(({ row }) => !row.hidden);
    const at = seen.findIndex(({ row }) => row === document.activeElement);
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: seen.length - 1 }[event.key];
    const act = Object.entries(ACTS).find(([, [key]]) => key === event.key.toLowerCase());
    if (to !== undefined) this.#focus(seen[Math.min(seen.length - 1, Math.max(0, to))].row);
    else if (event.key === "Enter") this.choose(seen[at].tag);
    else if (act) this.act(act[0], seen[at].tag);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #focus(row) {
    for (const one of this.rows) one.row.setAttribute("tabindex", one.row === row ? 0 : -1);
    row.focus();
  }

  update() {
    const { visibility } = this;
    for (const { tag, row, buttons } of this.rows) {
      const chosen = visibility.chosen === tag;
      if (chosen && row.getAttribute("aria-selected") !== "true") row.scrollIntoView({ block: "nearest" });
      row.setAttribute("aria-selected", chosen);
      row.classList.toggle("away", !visibility.shows(tag));
      const on = { hide: visibility.hidden.has(tag), clear: visibility.clear.has(tag), only: visibility.only === tag };
      for (const [act, button] of buttons) button.setAttribute("aria-pressed", on[act]);
    }
  }
}
