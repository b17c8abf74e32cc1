// Solids that share a geometry are drawn together: one instanced mesh per geometry, one matrix per solid.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  Color,
  ConeGeometry,
  Curve,
  CylinderGeometry,
  DoubleSide,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshPhongMaterial,
  NotEqualStencilFunc,
  Quaternion,
  ReplaceStencilOp,
  ShaderMaterial,
  Sphere,
  SphereGeometry,
  TorusGeometry,
  TubeGeometry,
  Vector2,
  Vector3,
} from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { decode } from "./run.js";

const ONE = new Vector3(1, 1, 1);

// Opposite quarters a little darker: the spin of a round body is seen.
function quartered(geometry, alongZ) {
  const flat = geometry.toNonIndexed();
  const at = flat.attributes.position;
  const colour = new Float32Array(3 * at.count).fill(1);
  for (let k = 0; k < at.count; k += 3) {
    const x = at.getX(k) + at.getX(k + 1) + at.getX(k + 2);
    const y = at.getY(k) + at.getY(k + 1) + at.getY(k + 2);
    const z = at.getZ(k) + at.getZ(k + 1) + at.getZ(k + 2);
    const end = at.getZ(k) === at.getZ(k + 1) && at.getZ(k) === at.getZ(k + 2); // of a cylinder, whose side has one colour
    const dark = alongZ ? end && x * y > 0 : x * y * z > 0;
    if (dark) colour.fill(0.74, 3 * k, 3 * k + 9);
  }
  flat.setAttribute("color", new BufferAttribute(colour, 3));
  return flat;
}

function plain(geometry) {
  const colour = new Float32Array(3 * geometry.attributes.position.count).fill(1);
  geometry.setAttribute("color", new BufferAttribute(colour, 3));
  return geometry;
}

// n: corners around a part, see roundness
const MAKERS = {
  box: ([x, y, z]) => plain(new RoundedBoxGeometry(x, y, z, 2, 0.12 * Math.min(x, y, z))),
  cube: ([x, y, z]) => plain(new BoxGeometry(x, y, z)),
  cylinder: ([r, l], n) => quartered(new CylinderGeometry(r, r, l, 4 * Math.ceil(n / 4)).rotateX(Math.PI / 2), true),
  pin: ([r, l], n) => plain(new CylinderGeometry(r, r, l, n).rotateX(Math.PI / 2)),
  capsule: ([r, l], n) => plain(new CapsuleGeometry(r, Math.max(l - 2 * r, 1e-9), Math.ceil(n / 4), n).rotateX(Math.PI / 2)),
  sphere: ([r], n) => quartered(sphere(r, 4 * Math.ceil(n / 4)).rotateX(Math.PI / 2), false),
  ellipsoid: ([a, b, c]) => quartered(sphere(1, 40).rotateX(Math.PI / 2).scale(a, b, c), false),
  ball: ([r], n) => plain(sphere(r, n)),
  bar: ([r], n) => plain(new CylinderGeometry(r, r, 1, n).rotateX(Math.PI / 2)),
  shaft: ([r], n) => plain(new CylinderGeometry(r, r, 1, n).rotateX(Math.PI / 2).translate(0, 0, 0.5)),
  arc: ([r]) => plain(new TorusGeometry(1, r, 8, 40, 1.5 * Math.PI)),
  tip: ([r, l], n) => plain(new ConeGeometry(r, l, n).rotateX(Math.PI / 2).translate(0, 0, 0.5 * l)),
  spring: ([r, thick, length]) => plain(new TubeGeometry(new Coil(r, length), 320, thick, 8)),
  ring: ([r, thick], n) => plain(new TorusGeometry(r, thick, 12, n)),
  cone: ([r, l], n) => plain(new ConeGeometry(r, l, n).rotateX(Math.PI / 2)),
};

function sphere(r, n) {
  return new SphereGeometry(r, n, 2 * Math.ceil(n / 4));
}

// How many corners look round: the edge of a circle is off by a third of a pixel where the mechanism is 3000 pixels large.
function roundness(radius, scale) {
  return Math.min(48, Math.max(12, Math.ceil(Math.PI / Math.acos(Math.max(0, 1 - scale / (9000 * radius))))));
}

// A coil about z, centred, straight at its ends.
class Coil extends Curve {
  constructor(radius, length) {
    super();
    this.radius = radius;
    this.length = length;
  }

  getPoint(s, out = new Vector3()) {
    const wound = Math.min(1, Math.max(0, (s - 0.1) / 0.8));
    const away = this.radius * Math.min(1, 12 * wound, 12 * (1 - wound));
    const angle = 2 * Math.PI * 10 * wound;
    return out.set(away * Math.cos(angle), away * Math.sin(angle), (s - 0.5) * this.length);
  }
}

function meshGeometry(text, scale) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(decode(text), 3));
  geometry.scale(scale, scale, scale);
  geometry.computeVertexNormals();
  return plain(geometry);
}

export class Solids {
  // visibility: of elements by tag; scale: the mechanism's size; onTop: drawn over everything else
  constructor(scene, layer, visibility, scale, onTop = false) {
    Object.assign(this, { scene, layer, visibility, scale, onTop });
    this.pools = new Map();
    this.meshes = [];
    this.twins = [];
    this.ghosts = false;
  }

  // A solid at rest in a frame: frame() gives the frame's matrix, or null to hide it. tag: what it belongs to; held: only as what
  // that stands on.
  add({ kind, size, triangles, at = [0, 0, 0], turn = [0, 0, 0, 1], colour, frame, tag, held = false, shiny = false, clear = false }) {
    const key = triangles ? `mesh ${this.pools.size}` : `${kind} ${size.map((s) => s.toPrecision(6)).join(" ")} ${shiny} ${clear}`;
    if (!this.pools.has(key)) {
      const geometry = triangles ? meshGeometry(triangles, size[0]) : MAKERS[kind](size, roundness(size[0], this.scale));
      this.pools.set(key, { geometry, solids: [], shiny, clear });
    }
    const local = new Matrix4().compose(new Vector3(...at), new Quaternion(...turn), ONE);
    const { geometry } = this.pools.get(key);
    const solid = { local, colour: new Color(colour), frame, tag, held, geometry };
    this.pools.get(key).solids.push(solid);
    return solid;
  }

  build() {
    for (const { geometry, solids, shiny, clear } of this.pools.values()) {
      const material = new MeshPhongMaterial({
        vertexColors: true,
        specular: shiny ? 0x555555 : 0x1c1c1c,
        shininess: shiny ? 60 : 28,
        ...(this.onTop && { depthTest: false, transparent: true }), // after what is translucent, the ground, too
        ...(clear && { transparent: true, opacity: 0.4, depthWrite: false }),
      });
      const mesh = new InstancedMesh(geometry, material, solids.length);
      mesh.frustumCulled = false;
      mesh.boundingSphere = new Sphere(new Vector3(), Infinity);
      mesh.castShadow = mesh.receiveShadow = !this.onTop && !clear;
      mesh.userData.clear = clear;
      mesh.renderOrder = this.onTop ? ON_TOP : 0;
      mesh.layers.set(this.layer);
      mesh.userData.solids = solids;
      solids.forEach((solid, k) => {
        solid.mesh = mesh;
        solid.k = k;
        mesh.setColorAt(k, solid.colour);
      });
      this.scene.add(mesh);
      this.meshes.push(mesh);
    }
  }

  update() {
    for (const mesh of this.meshes) {
      mesh.userData.solids.forEach((solid, k) => {
        const state = this.visibility.of(solid.tag);
        const own = state === "solid" || (this.onTop && state === "clear") ? solid.frame() : null;
        if (own === null) matrix.makeScale(0, 0, 0);
        else matrix.multiplyMatrices(own, solid.local);
        mesh.setMatrixAt(k, matrix);
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
    for (const { solid, mesh } of this.twins) {
      const own = solid.frame();
      mesh.visible = own !== null && this.meshes[0].visible;
      if (own) mesh.matrix.multiplyMatrices(own, solid.local);
    }
  }

  // Meshes of their own for what is seen through, and around what is chosen.
  restyle() {
    for (const { mesh } of this.twins) this.scene.remove(mesh);
    this.twins = [];
    for (const mesh of this.meshes) {
      for (const solid of mesh.userData.solids) {
        const state = this.visibility.of(solid.tag);
        if (state === "clear") this.#twin(solid, new MeshPhongMaterial({ color: solid.colour, transparent: true, opacity: 0.28, depthWrite: false }), 1);
        const chosen = solid.tag && !solid.held && solid.tag === this.visibility.chosen;
        if (chosen && state !== "hidden") this.#outline(solid);
      }
    }
    this.update();
  }

  // A rim around all that is chosen, none inside.
  #outline(solid) {
    const { geometry } = solid;
    if (!geometry.attributes.outwards) geometry.setAttribute("outwards", outwards(geometry));
    const order = this.onTop ? ON_TOP + 1 : 2; // over the ellipsoid
    for (const [k, material] of [MASK, this.onTop ? OUTLINE_ON_TOP : OUTLINE].entries()) this.#twin(solid, material, order + 0.1 + 0.5 * k).raycast = () => {};
  }

  #twin(solid, material, order) {
    const mesh = new Mesh(solid.geometry, material);
    Object.assign(mesh, { matrixAutoUpdate: false, frustumCulled: false, renderOrder: order });
    mesh.layers.set(this.layer);
    mesh.userData.tag = solid.tag;
    this.scene.add(mesh);
    this.twins.push({ solid, mesh });
    return mesh;
  }

  // What the pointer can meet.
  get pickable() {
    return [...this.meshes.filter((mesh) => mesh.visible), ...this.twins.filter(({ mesh }) => mesh.visible).map(({ mesh }) => mesh)];
  }

  // Corners of the boxes around all that is seen of an element, or of everything, in the world.
  corners(tag) {
    const found = [];
    for (const mesh of this.meshes) {
      if (!mesh.visible) continue;
      for (const solid of mesh.userData.solids) {
        const own = tag && (solid.held || solid.tag !== tag) ? null : this.visibility.shows(solid.tag) && solid.frame();
        if (!own) continue;
        if (!solid.geometry.boundingBox) solid.geometry.computeBoundingBox();
        const { min, max } = solid.geometry.boundingBox;
        matrix.multiplyMatrices(own, solid.local);
        for (const x of [min.x, max.x]) for (const y of [min.y, max.y]) for (const z of [min.z, max.z]) found.push(new Vector3(x, y, z).applyMatrix4(matrix));
      }
    }
    return found;
  }

  // Seen through, or solid.
  set ghost(value) {
    if (value === this.ghosts) return;
    this.ghosts = value;
    for (const mesh of this.meshes) {
      if (mesh.userData.clear) continue;
      mesh.material.transparent = value;
      mesh.material.opacity = value ? 0.32 : 1;
      mesh.material.depthWrite = !value;
      mesh.material.needsUpdate = true;
      mesh.castShadow = mesh.receiveShadow = !value;
    }
  }

  highlight(tag, on) {
    for (const mesh of this.meshes) {
      mesh.userData.solids.forEach((solid, k) => {
        if (solid.tag !== tag) return;
        bright.copy(solid.colour);
        if (on) bright.lerp(WHITE, 0.35);
        mesh.setColorAt(k, bright);
        mesh.instanceColor.needsUpdate = true;
      });
    }
  }

  set visible(value) {
    for (const mesh of [...this.meshes, ...this.twins.map((twin) => twin.mesh)]) mesh.visible = value;
  }
}

// Normals that corners at one place share: a blown up box stays closed.
function outwards({ attributes: { position, normal } }) {
  const sums = new Map();
  const at = new Vector3();
  const keys = Array.from({ length: position.count }, (_, k) => at.fromBufferAttribute(position, k).toArray().map((x) => x.toPrecision(5)).join());
  keys.forEach((key, k) => sums.set(key, (sums.get(key) ?? new Vector3()).add(at.fromBufferAttribute(normal, k))));
  return new BufferAttribute(new Float32Array(keys.flatMap((key) => at.copy(sums.get(key)).normalize().toArray())), 3);
}

const ON_TOP = 3;

// Where something is chosen: drawn before the rim, which is only around it.
const MASK = new MeshBasicMaterial({ colorWrite: false, depthWrite: false, depthTest: false, transparent: true, side: DoubleSide, stencilWrite: true, stencilRef: 1, stencilZPass: ReplaceStencilOp });

// A rim of a few pixels around what is chosen: the same, blown up.
export const OUTLINE = new ShaderMaterial({
  side: DoubleSide,
  transparent: true,
  depthWrite: false,
  stencilWrite: true,
  stencilRef: 1,
  stencilFunc: NotEqualStencilFunc,
  uniforms: { colour: { value: new Color() }, pixel: { value: new Vector2(1, 1) } },
  vertexShader: `
    attribute vec3 outwards;
    uniform vec2 pixel;
    void main() {
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      vec2 away = (projectionMatrix * vec4(normalMatrix * outwards, 0.0)).xy / pixel;
      gl_Position.xy += 3.0 * pixel * away / max(length(away), 1e-6) * gl_Position.w;
    }`,
  fragmentShader: `
    uniform vec3 colour;
    void main() {
      gl_FragColor = vec4(colour, 1.0);
      #include <colorspace_fragment>
    }`,
});
const OUTLINE_ON_TOP = OUTLINE.clone();
Object.assign(OUTLINE_ON_TOP, { depthTest: false, uniforms: OUTLINE.uniforms });

const matrix = new Matrix4();
const bright = new Color();
const WHITE = new Color(0xffffff);
