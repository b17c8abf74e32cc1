// Around the chosen body: its frame at the centre of mass, and the ellipsoid that has its mass and inertia.

import { BufferGeometry, CylinderGeometry, Group, LineBasicMaterial, LineLoop, Mesh, MeshBasicMaterial, Quaternion, SphereGeometry, Vector3 } from "three";

const COLOURS = ["#b3261e", "#1f7a34", "#1f5fb0"];

const PURPLE = "#7a3fc4";

// Of radius 1 about an axis.
function circle(axis) {
  const points = Array.from({ length: 72 }, (_, k) => new Vector3().setComponent((axis + 1) % 3, Math.cos((k * Math.PI) / 36)).setComponent((axis + 2) % 3, Math.sin((k * Math.PI) / 36)));
  return new BufferGeometry().setFromPoints(points);
}

export class Chosen {
  // of an actor, in its layer
  constructor(stage, actor, layer) {
    this.actor = actor;
    this.body = null;
    this.group = new Group();
    this.axes = COLOURS.map((color, k) => {
      const bar = new Mesh(new CylinderGeometry(0.03, 0.03, 1, 12).translate(0, 0.5, 0), new MeshBasicMaterial({ color, depthTest: false, transparent: true }));
      bar.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), new Vector3().setComponent(k, 1));
      bar.renderOrder = 3;
      return bar;
    });
    const skin = new MeshBasicMaterial({ color: PURPLE, transparent: true, opacity: 0.25, depthTest: false });
    this.ellipsoid = new Mesh(new SphereGeometry(1, 40, 24), skin);
    for (const k of [0, 1, 2]) this.ellipsoid.add(new LineLoop(circle(k), new LineBasicMaterial({ color: PURPLE, transparent: true, depthTest: false })));
    this.ellipsoid.traverse((thing) => (thing.renderOrder = 2));
    this.group.add(...this.axes, this.ellipsoid);
    this.group.traverse((thing) => thing.layers.set(layer));
    this.group.visible = false;
    stage.scene.add(this.group);
  }

  // body: which one, or null
  show(body) {
    const { actor } = this;
    this.body = body;
    if (body === null) return;
    const { scale } = actor.run.scene;
    for (const bar of this.axes) bar.scale.setScalar(0.12 * scale);
    const { half_axes: half, axes } = actor.run.bodies[body];
    this.ellipsoid.visible = Boolean(half) && Math.max(...half) > 0;
    if (!this.ellipsoid.visible) return;
    this.ellipsoid.scale.set(...half.map((length) => Math.max(length, 2e-3 * scale)));
    this.ellipsoid.quaternion.copy(new Quaternion().fromArray(axes));
  }

  // wanted: whether this run is one that is looked at
  update(wanted) {
    const { actor, body, group } = this;
    group.visible = wanted && body !== null && actor.visibility.shows(`body ${body}`);
    if (!group.visible) return;
    group.position.copy(actor.run.drawn[body]);
    group.quaternion.copy(actor.run.rotation[body]);
  }
}
