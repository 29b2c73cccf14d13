// A square to draw on. A drawing is scaled and centred as the digits of MNIST were: to a box, by its centre of mass.
const { side, low, high: ink, box } = data.picture, canvas = $('draw'), SIZE = canvas.width;
const pen = canvas.getContext('2d', { willReadFrequently: true }), cursor = { x: SIZE / 2, y: SIZE / 2, down: false };
let last = null, isExample = false;

function picture() {
  const pixels = pen.getImageData(0, 0, SIZE, SIZE).data, at = (x, y) => pixels[4 * (y * SIZE + x) + 3] / 255;
  let x0 = SIZE, x1 = -1, y0 = SIZE, y1 = -1, sx = 0, sy = 0, sum = 0;
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      const v = at(x, y);
      if (!v) continue;
      x0 = min(x0, x); x1 = max(x1, x); y0 = min(y0, y); y1 = max(y1, y);
      sx += v * x; sy += v * y; sum += v;
    }
  if (!sum) return null;
  // Every pixel is the mean of 5 x 5 points.
  const step = max(x1 - x0 + 1, y1 - y0 + 1) / box, row = new Float64Array(side * side), n = 5;
  for (let i = 0; i < side * side; i++) {
    let v = 0;
    for (let k = 0; k < n * n; k++) {
      const x = round(sx / sum + (i % side + (k % n + .5) / n - side / 2) * step);
      const y = round(sy / sum + (floor(i / side) + (floor(k / n) + .5) / n - side / 2) * step);
      if (x >= 0 && x < SIZE && y >= 0 && y < SIZE) v += at(x, y);
    }
    row[i] = low + (ink - low) * v / n / n;
  }
  return row;
}

function guess() {
  const row = picture();
  if (row) show(row);
}

function line(from, to) {
  if (isExample) clear();
  pen.lineWidth = SIZE / 13;
  pen.lineCap = pen.lineJoin = 'round';
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(to.x, to.y);
  pen.stroke();
  guess();
}

function clear() {
  pen.clearRect(0, 0, SIZE, SIZE);
  isExample = false;
  refuse('');
}

function place(event) {
  const r = canvas.getBoundingClientRect();
  return { x: (event.clientX - r.left) * SIZE / r.width, y: (event.clientY - r.top) * SIZE / r.height };
}

canvas.onpointerdown = (e) => { canvas.setPointerCapture(e.pointerId); last = place(e); line(last, last); };
canvas.onpointermove = (e) => { if (last) { const to = place(e); line(last, to); last = to; } };
canvas.onpointerup = canvas.onpointercancel = () => { last = null; };
canvas.onkeydown = (e) => {
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
  const from = { ...cursor };
  if (e.key === 'Escape' || e.key === 'Delete') clear();
  else if (e.key === ' ') cursor.down = !cursor.down;
  else if (!move) return;
  e.preventDefault();
  if (move) {
    cursor.x = min(SIZE, max(0, cursor.x + 12 * move[0]));
    cursor.y = min(SIZE, max(0, cursor.y + 12 * move[1]));
  }
  $('pen').style.left = 100 * cursor.x / SIZE + '%';
  $('pen').style.top = 100 * cursor.y / SIZE + '%';
  $('pen').className = cursor.down ? 'down' : '';
  if (cursor.down && e.key !== 'Escape') line(from, cursor);
};
$('clear').onclick = clear;
clear();
