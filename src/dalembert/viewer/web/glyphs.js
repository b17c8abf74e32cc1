// Joints as small machine parts: pin and ring, ball and socket, cross, rail and carriage.
// Each part sits in the joint frame of the first body ("i") or of the second ("j"); the axis is z.

const PIN = "#6b7380";
const BALL = "#c9ced6";
const RAIL = "#9aa2ae";

const ALONG_X = [0, Math.SQRT1_2, 0, Math.SQRT1_2];
const ALONG_Y = [-Math.SQRT1_2, 0, 0, Math.SQRT1_2];

const pin = (frame, r, length, more = {}) => ({ frame, kind: "pin", size: [r, length], colour: PIN, ...more });
const ball = (frame, r) => ({ frame, kind: "ball", size: [r], colour: BALL, shiny: true });
const ring = (frame, r, thick, more = {}) => ({ frame, kind: "ring", size: [r, thick], colour: BALL, ...more });
const cube = (frame, x, y, z, more = {}) => ({ frame, kind: "box", size: [x, y, z], colour: RAIL, ...more });

function rail(r, travel, round) {
  const [low, high] = travel ?? [-8 * r, 8 * r];
  const length = high - low + 8 * r;
  const at = [0, 0, 0.5 * (low + high)];
  const bar = round ? pin("i", 0.55 * r, length, { at, colour: RAIL }) : cube("i", 0.9 * r, 0.9 * r, length, { at });
  const stops = [low - 4 * r, high + 4 * r].map((z) => cube("i", 2.2 * r, 2.2 * r, 0.5 * r, { at: [0, 0, z], colour: PIN }));
  return [bar, ...stops];
}

const GLYPHS = {
  revolute: ({ radius: r }) => [pin("i", 0.62 * r, 4.2 * r), ring("j", r, 0.3 * r), ...caps(r)],
  spherical: ({ radius: r }) => [ball("j", 1.08 * r)],
  coincidence: ({ radius: r }) => [ball("j", 1.08 * r)],
  universal: ({ radius: r }) => [
    pin("i", 0.36 * r, 3.6 * r, { turn: ALONG_X }),
    pin("j", 0.36 * r, 3.6 * r, { turn: ALONG_Y }),
    ball("j", 0.8 * r),
  ],
  prismatic: ({ radius: r, travel }) => [...rail(r, travel, false), cube("j", 1.7 * r, 1.7 * r, 2.6 * r, { colour: PIN })],
  cylindrical: ({ radius: r, travel }) => [...rail(r, travel, true), pin("j", 1.1 * r, 2.4 * r, { colour: BALL })],
  point_on_line: ({ radius: r, travel }) => [...rail(r, travel, true), ball("j", r)],
  fixed: ({ radius: r }) => [cube("i", 1.8 * r, 1.8 * r, 1.8 * r, { colour: PIN })],
  planar: ({ radius: r }) => [cube("i", 12 * r, 12 * r, 0.2 * r), pin("j", 1.2 * r, 0.8 * r)],
  point_on_plane: ({ radius: r }) => [cube("i", 12 * r, 12 * r, 0.2 * r), ball("j", r)],
  in_plane: ({ radius: r }) => [ball("j", r)],
  distance: ({ radius: r }) => [ball("i", 0.7 * r), ball("j", 0.7 * r)],
  perpendicular: () => [],
  ...Object.fromEntries(["coupling", "cable", "cam_flat", "cam_roller"].map((type) => [type, () => []])),
};

function caps(r) {
  return [-2.1 * r, 2.1 * r].map((z) => pin("i", 0.85 * r, 0.3 * r, { at: [0, 0, z] }));
}

export function glyph(joint) {
  return GLYPHS[joint.type]?.(joint) ?? [ball("j", joint.radius)];
}
