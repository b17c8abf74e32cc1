// The sheet of keys: a dialog that takes the focus and gives it back.

import { element } from "./page.js";

const ROWS = [
  ["space", "play, pause"],
  ["← →", "one frame back, on; with shift a tenth of the run"],
  ["home end", "to the start, to the end"],
  ["+ −", "faster, slower"],
  ["1 2 3", "from the front, from the side, from above"],
];
const GESTURES = [
  ["drag, one finger", "turn"],
  ["right-drag, two fingers", "shift"],
  ["wheel, pinch", "zoom, to the pointer"],
  ["point at a part", "its name"],
  ["click, tap a part", "its data and curves"],
  ["click, tap twice", "look at it"],
  ["drag in a plot", "move in time"],
  ["Ctrl and wheel, pinch", "see less of a plot"],
];
const TEXT = [
  "With the picture in focus (tab) arrows turn it, with shift they move it, + − zoom. F adds all forces to the loads of the model, then shows none; M does so with torques.",
  "Markers leave trails; where there are none, bars do with the end away from the ground, other bodies with the centre of mass.",
  "CSV of a plot has eight digits; dalembert export writes tables of all digits.",
];

export class Sheet {
  constructor(parent, commands) {
    this.before = document.activeElement;
    this.box = element(parent, "section", "sheet");
    this.box.setAttribute("role", "dialog");
    this.box.setAttribute("aria-modal", "true");
    this.box.setAttribute("aria-labelledby", "keys");
    this.box.tabIndex = -1;
    element(this.box, "h2", "", "Keys").id = "keys";
    this.#list([...ROWS, ...commands.map(({ key, text }) => [key, text])]);
    element(this.box, "h2", "", "Mouse and fingers");
    this.#list(GESTURES);
    for (const text of TEXT) element(this.box, "p", "", text);
    const done = element(this.box, "button", "small", "close");
    done.type = "button";
    this.box.addEventListener("click", () => this.close());
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Tab") return;
      event.preventDefault(); // there is nothing else in it
      done.focus();
    });
    this.box.focus();
  }

  #list(rows) {
    const list = element(this.box, "dl");
    for (const [key, text] of rows) {
      element(list, "dt", "", key);
      element(list, "dd", "", text);
    }
  }

  close() {
    this.box.remove();
    this.before.focus();
    this.onClose();
  }
}
