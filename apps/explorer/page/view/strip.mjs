// Slices narrower than two pixels are mixed, by the time they cover, into one strip of pixels per
// row; wider ones become rectangles. So every slice counts at every zoom, and nothing flickers.

export class Strip {
  constructor(pixels, classCount) {
    this.pixels = pixels;
    this.classes = classCount;
    this.covered = new Float32Array(pixels * classCount);
    this.total = new Float32Array(pixels);
  }

  /** Mixes one row between two times; wide slices go to `wide` as index, left, right. */
  mix(row, from, to, widest) {
    this.covered.fill(0);
    this.total.fill(0);
    const { begin, end, cls } = row;
    const scale = this.pixels / (to - from);
    const wide = [];
    let seen = 0;
    for (let i = firstAfter(end, from); i < begin.length && begin[i] < to; ++i) {
      seen += 1;
      const left = Math.max(0, (begin[i] - from) * scale);
      const right = Math.min(this.pixels, (end[i] - from) * scale);
      if (right <= left) continue;
      if (right - left >= widest) wide.push(i, left, right);
      else this.add(left, right, cls[i]);
    }
    return { wide, seen };
  }

  add(left, right, cls) {
    let pixel = Math.floor(left);
    const last = Math.floor(right);
    if (pixel === last) {
      this.put(pixel, cls, right - left);
      return;
    }
    this.put(pixel, cls, pixel + 1 - left);
    for (pixel += 1; pixel < last; ++pixel) this.put(pixel, cls, 1);
    if (last < this.pixels) this.put(last, cls, right - last);
  }

  put(pixel, cls, amount) {
    this.covered[pixel * this.classes + cls] += amount;
    this.total[pixel] += amount;
  }

  /** The pixels as an image; null if nothing was mixed. */
  paint(colours, background) {
    const image = new ImageData(Math.max(1, this.pixels), 1);
    const { data } = image;
    let any = false;
    for (let pixel = 0, out = 0; pixel < this.pixels; ++pixel, out += 4) {
      const total = this.total[pixel];
      data[out + 3] = 0;
      if (total === 0) continue;
      any = true;
      const rest = Math.max(0, 1 - total);
      const share = total > 1 ? 1 / total : 1;
      let red = rest * background[0];
      let green = rest * background[1];
      let blue = rest * background[2];
      for (let c = 0, at = pixel * this.classes; c < this.classes; ++c) {
        const covered = this.covered[at + c];
        if (covered === 0) continue;
        const part = covered * share;
        red += part * colours[c][0];
        green += part * colours[c][1];
        blue += part * colours[c][2];
      }
      data[out] = red;
      data[out + 1] = green;
      data[out + 2] = blue;
      data[out + 3] = 255;
    }
    return any ? image : null;
  }
}

/** The first slice that ends after a time; ends never go back on a lane. */
function firstAfter(end, time) {
  let low = 0;
  let high = end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
