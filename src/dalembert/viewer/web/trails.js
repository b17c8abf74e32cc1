// Paths of bodies as ribbons of constant width on the screen that fade with age; moving in time costs nothing.

import { BufferAttribute, BufferGeometry, Color, Mesh, Quaternion, ShaderMaterial, Vector2, Vector3, DoubleSide } from "three";

const VERTEX = `
  attribute vec3 before; attribute vec3 after; attribute float side; attribute float time;
  uniform vec2 resolution; uniform float width;
  varying float vTime;
  vec2 onScreen(vec4 p) { return p.xy / p.w * resolution; }
  void main() {
    mat4 toClip = projectionMatrix * viewMatrix;
    vec4 here = toClip * vec4(position, 1.0);
    vec2 along = onScreen(toClip * vec4(after, 1.0)) - onScreen(toClip * vec4(before, 1.0));
    vec2 normal = length(along) > 1e-4 ? normalize(vec2(-along.y, along.x)) : vec2(0.0, 1.0);
    here.xy += side * width * normal / resolution * here.w;
    vTime = time;
    gl_Position = here;
  }`;

const FRAGMENT = `
  uniform vec3 colour; uniform float now; uniform float memory; uniform float opacity; uniform float ahead;
  varying float vTime;
  void main() {
    float age = now - vTime;
    if (age > memory || (age < 0.0 && ahead == 0.0)) discard;
    gl_FragColor = vec4(colour, opacity * (age < 0.0 ? ahead : 1.0 - age / memory));
    #include <colorspace_fragment>
  }`;

export class Trails {
  // bodies: indices of those that leave a trail; points: which point of each, in body axes
  constructor(stage, run, bodies, points, layer, thin) {
    this.run = run;
    this.shared = { now: { value: 0 }, memory: { value: 1 }, ahead: { value: 0 }, resolution: { value: new Vector2(1, 1) } };
    this.meshes = bodies.map((b, k) => {
      const material = new ShaderMaterial({
        vertexShader: VERTEX,
        fragmentShader: FRAGMENT,
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
        uniforms: {
          ...this.shared,
          width: { value: thin ? 1.5 : 2.6 },
          opacity: { value: thin ? 0.4 : 0.85 },
          colour: { value: new Color(run.bodies[b].colour) },
        },
      });
      const mesh = new Mesh(new BufferGeometry(), material);
      mesh.frustumCulled = false;
      mesh.layers.set(layer);
      Object.assign(mesh.userData, { body: b, point: new Vector3().fromArray(points[k]) });
      stage.scene.add(mesh);
      return mesh;
    });
    this.rebuild();
  }

  rebuild() {
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      mesh.geometry = ribbon(this.run, mesh.userData);
    }
  }

  set visible(value) {
    this.wanted = value;
    this.restyle(null);
  }

  // Hidden bodies leave no trail.
  restyle(visibility) {
    this.visibility = visibility ?? this.visibility;
    for (const mesh of this.meshes) mesh.visible = this.wanted && (this.visibility?.shows(`body ${mesh.userData.body}`) ?? true);
  }
}

function ribbon({ times, poses, bodies, layers }, { body: b, point }) {
  const n = times.length;
  const turn = new Quaternion();
  const places = Array.from({ length: n }, (_, k) => {
    const at = 7 * (bodies.length * k + b);
    turn.fromArray(poses, at + 3);
    return new Vector3().fromArray(poses, at).add(point.clone().applyQuaternion(turn)).add(layers[b]).toArray();
  });
  const at = (k) => places[Math.min(n - 1, Math.max(0, k))];
  const place = new Float32Array(6 * n);
  const before = new Float32Array(6 * n);
  const after = new Float32Array(6 * n);
  const side = new Float32Array(2 * n);
  const time = new Float32Array(2 * n);
  const index = [];
  for (let k = 0; k < n; k++) {
    for (const half of [0, 1]) {
      const v = 2 * k + half;
      for (let axis = 0; axis < 3; axis++) {
        place[3 * v + axis] = at(k)[axis];
        before[3 * v + axis] = at(k - 1)[axis];
        after[3 * v + axis] = at(k + 1)[axis];
      }
      side[v] = 2 * half - 1;
      time[v] = times[k];
    }
    if (k) index.push(2 * k - 2, 2 * k - 1, 2 * k, 2 * k, 2 * k - 1, 2 * k + 1);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(place, 3));
  geometry.setAttribute("before", new BufferAttribute(before, 3));
  geometry.setAttribute("after", new BufferAttribute(after, 3));
  geometry.setAttribute("side", new BufferAttribute(side, 1));
  geometry.setAttribute("time", new BufferAttribute(time, 1));
  geometry.setIndex(index);
  return geometry;
}
