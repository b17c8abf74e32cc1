// The stage: renderer, camera, lights, ground. Draws only when something has changed.

import {
  AmbientLight,
  Color,
  DirectionalLight,
  DoubleSide,
  HemisphereLight,
  Mesh,
  PlaneGeometry,
  Scene,
  ShaderMaterial,
  ShadowMaterial,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { Eye } from "./eye.js";

export class Stage {
  constructor(canvas, look) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, stencil: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.scene = new Scene();
    this.sideBySide = false;
    this.way = new Vector3();
    this.dirty = true;
    this.eye = new Eye(canvas, look, () => this.half, () => this.invalidate());
    this.#look(look);
    this.#light();
    this.#ground();
    this.resize();
    this.eye.frame();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }

  #look({ up, normal, camera, sheet }) {
    this.up = new Vector3().fromArray(up);
    this.normal = new Vector3().fromArray(normal);
    this.target = new Vector3().fromArray(camera.target); // of the light
    this.direction = new Vector3().fromArray(camera.direction);
    this.radius = camera.radius;
    this.sheet = { normal: new Vector3().fromArray(sheet.normal), height: sheet.height }; // of the grid and the shadows
  }

  get camera() {
    return this.eye.camera;
  }

  // Of what the camera draws: everything, or one of two halves [px].
  get half() {
    const { width, height } = this.size;
    return { width: this.sideBySide ? width / 2 : width, height };
  }

  // Light and floor go along with what rolls away, and where the camera looks at first; the floor stays at its height.
  follow(way) {
    const step = new Vector3().subVectors(way, this.way);
    this.way.copy(way);
    this.eye.home.target.add(step);
    const level = step.clone().addScaledVector(this.sheet.normal, -step.dot(this.sheet.normal));
    for (const at of [this.target, this.sun.position, this.sun.target.position]) at.add(step);
    for (const thing of [this.grid, this.shadow]) thing.position.add(level);
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    const [width, height] = [Math.max(1, clientWidth), Math.max(1, clientHeight)];
    this.renderer.setSize(width, height, false);
    this.size = { width, height };
    this.eye.resize();
    this.invalidate();
    this.onResize?.();
  }

  colours({ background, line, dark }) {
    this.background = new Color(background);
    this.scene.background = this.background;
    this.grid.material.uniforms.colour.value.set(line);
    this.shadow.material.opacity = dark ? 0.42 : 0.2;
    this.sky.color.set(dark ? 0xcfd8ea : 0xffffff);
    this.sky.groundColor.set(dark ? 0x3a3f4c : 0xc9c3b8);
    this.invalidate();
  }

  invalidate() {
    this.dirty = true;
    this.wake?.();
  }

  // Left and right halves show different layers, with the same camera.
  draw() {
    this.eye.update();
    if (!this.dirty) return false;
    this.dirty = false;
    this.#render();
    this.onDraw?.();
    return true;
  }

  // When the first picture is ready, not only ordered. Shaders are all ordered at once: some drivers translate them side by side.
  async drawn() {
    this.renderer.compile(this.scene, this.camera);
    await new Promise((resolve) => (this.onDraw = resolve));
    this.onDraw = null;
    const gl = this.renderer.getContext();
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    while (fence && gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.UNSIGNALED) await new Promise((resolve) => setTimeout(resolve, 5));
    gl.deleteSync(fence);
  }

  #render() {
    const { renderer, camera, scene } = this;
    const { width: w, height } = this.half;
    renderer.setScissorTest(true);
    for (const half of this.sideBySide ? [0, 1] : [0]) {
      renderer.setViewport(half * w, 0, w, height);
      renderer.setScissor(half * w, 0, w, height);
      camera.layers.enableAll();
      if (this.sideBySide) camera.layers.disable(2 - half);
      renderer.render(scene, camera);
    }
    camera.layers.enableAll();
  }

  picture() {
    this.#render();
    return this.canvas.toDataURL("image/png");
  }

  // Where a point of the world is on the page [px].
  project(x, y, z) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const { width: w, height } = this.half;
    const seen = new Vector3(x, y, z).project(this.camera);
    return [left + ((seen.x + 1) / 2) * w, top + ((1 - seen.y) / 2) * height];
  }

  // Canvas pixels to the camera's [-1, 1] square, null outside; also which half.
  pointer(event) {
    const box = this.canvas.getBoundingClientRect();
    const { width: w, height } = this.half;
    let x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const half = this.sideBySide && x > w ? 1 : 0;
    x -= half * w;
    return { at: new Vector2((2 * x) / w - 1, 1 - (2 * y) / height), half };
  }

  #light() {
    this.sky = new HemisphereLight(0xffffff, 0xbbbbbb, 1.9);
    this.sky.position.copy(this.up);
    const sun = new DirectionalLight(0xfff6e8, 2.1);
    const side = new Vector3().crossVectors(this.up, this.direction).normalize();
    const { normal } = this.sheet;
    const from = new Vector3() // as in raster.py
      .addVectors(this.up, this.direction)
      .multiplyScalar(0.5)
      .addScaledVector(normal, 1.1)
      .addScaledVector(side, -0.9)
      .normalize();
    sun.position.copy(this.target).addScaledVector(from, 3 * this.radius);
    sun.target.position.copy(this.target);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.radius = 5;
    sun.shadow.bias = -0.0004;
    sun.shadow.normalBias = 0.004 * this.radius;
    const box = sun.shadow.camera;
    box.left = box.bottom = -1.15 * this.radius;
    box.right = box.top = 1.15 * this.radius;
    box.near = 0.5 * this.radius;
    box.far = 7 * this.radius;
    for (const light of [this.sky, sun, new AmbientLight(0xffffff, 0.35)]) {
      light.layers.enableAll();
      this.scene.add(light);
    }
    this.scene.add(sun.target);
    this.sun = sun;
  }

  // A grid that fades away from the motion, with lines at round coordinates, and the shadows on it.
  #ground() {
    this.gridStep = niceStep(this.radius / 4);
    const size = 14 * this.radius;
    const { normal } = this.sheet;
    const across = new Vector3().crossVectors(Math.abs(normal.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0), normal).normalize();
    this.grid = new Mesh(
      new PlaneGeometry(size, size),
      new ShaderMaterial({
        vertexShader: GRID_VERTEX,
        fragmentShader: GRID_FRAGMENT,
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
        uniforms: {
          a: { value: across },
          b: { value: new Vector3().crossVectors(normal, across) },
          centre: { value: this.target },
          step: { value: this.gridStep },
          reach: { value: 3.6 * this.radius },
          colour: { value: new Color() },
          opacity: { value: 1 },
        },
      }),
    );
    this.shadow = new Mesh(new PlaneGeometry(size, size), new ShadowMaterial({ depthWrite: false }));
    this.shadow.receiveShadow = true;
    const height = this.sheet.height - this.target.dot(normal);
    for (const [order, thing] of [this.grid, this.shadow].entries()) {
      thing.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
      thing.position.copy(this.target).addScaledVector(normal, height);
      thing.renderOrder = order - 2;
      thing.layers.enableAll();
      this.scene.add(thing);
    }
  }
}

const GRID_VERTEX = `
  varying vec3 world;
  void main() {
    world = (modelMatrix * vec4(position, 1.0)).xyz;
    gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
  }`;

const GRID_FRAGMENT = `
  uniform vec3 a; uniform vec3 b; uniform vec3 centre; uniform vec3 colour; uniform float step; uniform float reach; uniform float opacity;
  varying vec3 world;
  float lines(vec2 p) {
    vec2 width = fwidth(p);
    vec2 away = abs(fract(p - 0.5) - 0.5) / width;
    vec2 seen = (1.0 - smoothstep(0.4, 1.3, away)) * (1.0 - smoothstep(0.25, 0.6, width));
    return max(seen.x, seen.y);
  }
  void main() {
    vec2 p = vec2(dot(world, a), dot(world, b));
    float away = length(p - vec2(dot(centre, a), dot(centre, b))) / reach;
    float fade = 1.0 - smoothstep(0.25, 1.0, away);
    float strong = lines(p / (5.0 * step));
    gl_FragColor = vec4(colour, opacity * fade * max(0.55 * lines(p / step), strong));
    #include <colorspace_fragment>
  }`;

export function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= rough * 0.999);
}
