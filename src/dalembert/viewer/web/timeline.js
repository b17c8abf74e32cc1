// Time: play, pause, scrub, speed, loop. Knows nothing of what is drawn.

export class Timeline {
  // speed: seconds of the run in a second on the clock, one of 1, 2, 5 times a power of ten
  constructor(start, end, speed) {
    this.start = start;
    this.end = end;
    this.time = start;
    this.playing = false;
    this.loop = true;
    this.following = false; // at the end of a run that still grows
    this.speed = speed;
    const power = Math.floor(Math.log10(speed) + 1e-9);
    this.speeds = [-2, -1, 0, 1].flatMap((k) => [1, 2, 5].map((digit) => Number(`${digit}e${power + k}`)));
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
    const at = this.speeds.indexOf(this.speed) + step;
    this.speed = this.speeds[Math.min(this.speeds.length - 1, Math.max(0, at))];
    this.changed();
  }

  // One frame of a screen, in seconds of the run.
  get frame() {
    return this.speed / 60;
  }
}
