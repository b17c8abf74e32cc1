// Names and numbers beside what they belong to, none over another, none beyond the edge: the next one there goes below. None is
// under a card: it goes beside it, the shortest way, or is not shown.

import { Vector3 } from "three";

const HIGH = 18; // of a label [px]
const BESIDE = 8; // its margin [px]
const CARDS = ".title, .key, .tools, .card, .triad, .transport";

export class Labels {
  constructor(stage) {
    this.stage = stage;
    this.taken = [];
    this.cards = [];
  }

  // Before the labels of a picture.
  clear() {
    this.taken.length = 0;
    const { canvas } = this.stage.eye;
    const { left, top } = canvas.getBoundingClientRect();
    const boxes = Array.from(canvas.closest(".deck").querySelectorAll(CARDS), (card) => card.getBoundingClientRect());
    this.cards = boxes.map((box) => ({ left: box.left - left, right: box.right - left, top: box.top - top, bottom: box.bottom - top }));
  }

  // At a point of the world, so far below it on the screen [px]; to its left where it is left of where it comes from; in which
  // half of the picture.
  place(label, at, below, { from = at, half = 0 } = {}) {
    const { width, height } = this.stage.half;
    const { x, y } = point.copy(from).project(this.stage.camera).clone();
    point.copy(at).project(this.stage.camera);
    const box = { x: ((point.x + 1) / 2) * width, y: ((1 - point.y) / 2) * height + below, wide: label.offsetWidth + 2 };
    const seen = box.x > 0 && box.x < width;
    const lost = !seen && this.stage.sideBySide; // it would be in the other half
    label.style.visibility = lost ? "hidden" : "";
    if (lost) return;
    if (point.x < x) box.x -= box.wide + 2 * BESIDE;
    if (seen) box.x = Math.max(0, Math.min(box.x, width - box.wide - BESIDE));
    box.x += half * width;
    const along = from === at ? null : { x: (half + (1 + x) / 2) * width, y: ((1 - y) / 2) * height };
    const place = this.#free(box, along, half * width, (half + 1) * width, height);
    if (!place) {
      label.style.visibility = "hidden";
      return;
    }
    this.taken.push(place);
    label.style.transform = `translate(${place.x}px, ${place.y}px)`;
  }

  // Below the labels that are there; beside a card that would be over it, near where it comes from on the screen, too, and not
  // over what leads from there; null where there is no room.
  #free(wanted, start, low, high, height) {
    const first = this.#below(wanted);
    if (!this.#over(first)) return first;
    const { x, y, wide } = wanted;
    const aside = start ? y + HIGH : y;
    const ways = this.cards.flatMap(({ left, right, top, bottom }) => [{ x: right - BESIDE + 2, y: aside }, { x: left - BESIDE - wide - 2, y: aside }, { x, y: top - HIGH - 2 }, { x, y: bottom + 2 }]);
    const far = (way) => Math.hypot(way.x - x, way.y - y) + (start ? Math.hypot(way.x - start.x, way.y - start.y) : 0);
    const inside = (way) => way.x >= low - BESIDE && way.x + wide + BESIDE <= high && way.y >= 0 && way.y + HIGH <= height;
    const found = ways.sort((a, b) => far(a) - far(b)).map((way) => this.#below({ ...way, wide }));
    return found.find((way) => inside(way) && !this.#over(way)) ?? null;
  }

  #below(wanted) {
    const box = { ...wanted };
    const covers = ({ x, y, wide }) => x < box.x + box.wide && box.x < x + wide && Math.abs(y - box.y) < HIGH - 1; // below it by HIGH, but for rounding
    for (let other = this.taken.find(covers); other; other = this.taken.find(covers)) box.y = other.y + HIGH;
    return box;
  }

  // A card that would cover a label there.
  #over({ x, y, wide }) {
    return this.cards.find(({ left, right, top, bottom }) => x + BESIDE < right && left < x + BESIDE + wide && y < bottom && top < y + HIGH);
  }
}

const point = new Vector3();
