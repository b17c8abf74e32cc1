// The camera: perspective or orthographic, standard views, fit, focus, and going along with what moves.

import { OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const FIELD_OF_VIEW = 32;
const SHORT = 320; // picture without buttons, as style.css has it [px]
const TANGENT = Math.tan((Math.PI / 180) * (FIELD_OF_VIEW / 2));

export class Eye {
  // look: where to look at first; size(): of what it draws on [px]; changed(): called when the camera has moved
  constructor(canvas, { up, camera }, size, changed) {
    Object.assign(this, { canvas, size });
    this.up = new Vector3().fromArray(up);
    this.home = { target: new Vector3().fromArray(camera.target), direction: new Vector3().fromArray(camera.direction), extent: camera.extent, radius: camera.radius };
    this.front = frontOf(this.up);
    this.cameras = { perspective: new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 1000), orthographic: new OrthographicCamera() };
    this.camera = camera.parallel ? this.cameras.orthographic : this.cameras.perspective; // lengths in a plane look true
    for (const one of Object.values(this.cameras)) one.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    Object.assign(this.controls, { enableDamping: true, dampingFactor: 0.12, zoomToCursor: true });
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => (this.framed = false));
    this.changed = changed;
    this.way = new Vector3(); // that it has gone along
  }

  get orthographic() {
    return this.camera === this.cameras.orthographic;
  }

  // The same picture through the other kind of camera.
  set orthographic(value) {
    if (value === this.orthographic) return;
    const [distance, direction] = [this.distance, this.direction];
    this.camera = this.controls.object = value ? this.cameras.orthographic : this.cameras.perspective;
    this.#place(this.controls.target.clone(), direction, distance);
  }

  get target() {
    return this.controls.target;
  }

  get direction() {
    return new Vector3().subVectors(this.camera.position, this.target).normalize();
  }

  // From which a perspective camera would see as much.
  get distance() {
    const { camera } = this;
    return this.orthographic ? camera.top / camera.zoom / TANGENT : camera.position.distanceTo(this.target);
  }

  // Of where it looks [px].
  get metre() {
    return (0.5 * this.size().height) / (this.distance * TANGENT);
  }

  // The whole motion, as the page was opened.
  frame() {
    const { target, direction, extent, radius } = this.home;
    this.#place(target.clone(), direction, this.#distanceFor(extent, radius));
    this.framed = true; // until somebody looks elsewhere
  }

  // Some points of the world fill the picture, from where it is seen now.
  fit(points) {
    if (!points.length) return;
    const [right, upright, towards] = this.axes;
    const spans = [right, upright, towards].map((axis) => {
      const along = points.map((point) => point.dot(axis));
      return [Math.min(...along), Math.max(...along)];
    });
    const target = new Vector3();
    [right, upright, towards].forEach((axis, k) => target.addScaledVector(axis, (spans[k][0] + spans[k][1]) / 2));
    const extent = spans.map(([low, high]) => (high - low) / 2);
    const least = 1e-3 * this.home.radius;
    this.#place(target, towards, this.#distanceFor(extent.map((size) => Math.max(1.1 * size, least)), 0));
  }

  // A standard view along a direction of the world, at the same distance.
  from(direction) {
    const near = Math.abs(direction.dot(this.up)) > 0.999 ? direction.clone().addScaledVector(this.front, 1e-4) : direction.clone();
    this.#place(this.target.clone(), near.normalize(), this.distance);
  }

  // Look at a part of some size.
  focus(at, radius) {
    this.#place(at.clone(), this.direction, this.#distanceFor([1.2 * radius, 1.2 * radius, radius], 0));
  }

  // Go along; what is in the picture stays where it is in it.
  follow(way) {
    const step = new Vector3().subVectors(way, this.way);
    this.way.copy(way);
    this.#shift(step);
  }

  #shift(step) {
    for (const at of [this.camera.position, this.target]) at.add(step);
    this.camera.updateMatrixWorld();
  }

  // Around what it looks at, by angles to the right and upwards.
  turn(across, upright) {
    const { direction, up } = this;
    const polar = direction.angleTo(up);
    const side = new Vector3().crossVectors(up, direction).normalize();
    direction.applyAxisAngle(side, Math.min(polar - 0.01, Math.max(polar + 0.01 - Math.PI, upright)) * -1);
    this.#place(this.target.clone(), direction.applyAxisAngle(up, across), this.distance);
  }

  zoom(factor) {
    this.#place(this.target.clone(), this.direction, this.distance * factor);
  }

  // Sideways and upwards, in tenths of what is seen.
  move(across, upright) {
    const [right, top] = this.axes;
    const step = 0.2 * this.distance * TANGENT;
    this.framed = false;
    this.#shift(right.multiplyScalar(step * across).addScaledVector(top, step * upright));
    this.changed();
  }

  // The picture has another size; the whole motion stays in it unless somebody looked elsewhere.
  resize() {
    if (this.framed) this.frame();
    else this.#shape();
  }

  // Of the picture [px]: title above, transport bar below, buttons at the right, and as much at the left; where there are rows
  // for them a card below.
  get #free() {
    const { width, height } = this.size();
    const { clientHeight, parentElement } = this.canvas;
    if (clientHeight === parentElement.parentElement.clientHeight) {
      return clientHeight < SHORT ? { width: width - 40, height: height - 100, below: 0 } : { width: width - 124, height: height - 210, below: 0 };
    }
    const below = Math.min(112, 0.4 * height);
    return { width: width - 40, height: height - 20 - below, below };
  }

  #shape() {
    const { width, height } = this.size();
    const aspect = width / height;
    this.cameras.perspective.aspect = aspect;
    const { camera } = this;
    if (this.orthographic) [camera.left, camera.right] = [-aspect * camera.top, aspect * camera.top];
    camera.setViewOffset(width, height, 0, this.#free.below / 2, width, height);
  }

  update() {
    this.controls.update();
    const { camera, distance } = this;
    const away = Math.max(this.camera.position.distanceTo(this.target), distance);
    const near = this.orthographic ? -60 * away : distance / 200;
    if (Math.abs(camera.near - near) > 0.3 * Math.abs(near)) {
      [camera.near, camera.far] = [near, 60 * away + 30 * this.home.radius];
      camera.updateProjectionMatrix();
    }
  }

  // Unit vectors to the right, upright and towards the camera.
  get axes() {
    const { elements } = this.camera.matrixWorld;
    return [0, 4, 8].map((k) => new Vector3().fromArray(elements, k));
  }

  #distanceFor([across, upright, deep], radius) {
    const { height } = this.size();
    const free = this.#free;
    const fit = Math.max(across / Math.max(free.width, 100), upright / Math.max(free.height, 60));
    return Math.max((fit * height) / TANGENT + (this.orthographic ? 0 : deep), 1.1 * radius);
  }

  #place(target, direction, distance) {
    this.framed = false;
    const { camera } = this;
    camera.position.copy(target).addScaledVector(direction, distance);
    this.target.copy(target);
    if (this.orthographic) {
      camera.zoom = 1;
      [camera.top, camera.bottom] = [distance * TANGENT, -distance * TANGENT];
    }
    this.#shape();
    camera.near = 0; // asks update() for new ones
    this.update();
    camera.updateMatrixWorld();
    this.changed();
  }
}

// From where drawings are usually seen: -y where z is up, +z where y is.
function frontOf(up) {
  const usual = [new Vector3(0, -1, 0), new Vector3(0, 0, 1)].find((axis) => Math.abs(axis.dot(up)) < 0.9);
  return usual.addScaledVector(up, -usual.dot(up)).normalize();
}
