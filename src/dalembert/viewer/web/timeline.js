// Time: play, pause, scrub, speed, loop. Knows nothing of what is drawn.

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

export class Timeline {
  constructor(start, end) {
    this.start = start;
    this.end = end;
    this.time = start;
    this.playing = false;
    this.loop = true;
    this.following = false; // at the end of a run that still grows
    this.speed = usualSpeed(end - start);
    this.listeners = [];
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  changed() {
    for (const listener of this.listeners) listener(this);
  }

  // dt: seconds on the clock
  advance(dt) {
    if (!this.playing) return;
    let t = this.time + dt * this.speed;
    if (t > this.end) {
      const span = this.end - this.start;
      if (this.following || span <= 0) t = this.end;
      else if (this.loop) t = this.start + ((t - this.start) % span);
      else {
        t = this.end;
        this.playing = false;
      }
    }
    this.time = t;
    this.changed();
  }

  play() {
    if (this.time >= this.end && !this.following) this.time = this.start;
    this.playing = true;
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  scrub(t) {
    this.time = Math.min(this.end, Math.max(this.start, t));
    this.changed();
  }

  faster(step) {
    const near = SPEEDS.reduce((best, s, k) => (Math.abs(Math.log(s / this.speed)) < Math.abs(Math.log(SPEEDS[best] / this.speed)) ? k : best), 0);
    this.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, near + step))];
    this.changed();
  }
}

// Real time, unless a run would be over in a blink or last longer than a minute.
function usualSpeed(span) {
  if (span >= 1 && span <= 60) return 1;
  const wanted = span / 10;
  return SPEEDS.reduce((best, s) => (Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted)) ? s : best), 1);
}
