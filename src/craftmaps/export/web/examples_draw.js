// Shades of a row on a canvas of its own size.
function shades(row) {
  const small = element('canvas', { width: side, height: side }), g = small.getContext('2d');
  const image = g.createImageData(side, side);
  image.data.forEach((_, i) => { if (i % 4 === 3) image.data[i] = 255 * (row[i >> 2] - low) / (ink - low); });
  g.putImageData(image, 0, 0);
  return small;
}

addExamples((row) => {
  clear();
  isExample = true;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(shades(row), 0, 0, SIZE, SIZE);
}, shades);
