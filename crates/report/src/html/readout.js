'use strict';
// The value nearest to the pointer, in words under the figure. Without this script the same words are the tool tips of marks.
for (const svg of document.querySelectorAll('svg.chart')) {
  const readout = svg.closest('figure')?.querySelector('.readout');
  const marks = [...svg.querySelectorAll('.datum')].flatMap(mark => {
    const title = mark.querySelector('title');
    return title ? [{ mark, text: title.textContent, x: +mark.dataset.x, y: +mark.dataset.y }] : [];
  });
  if (!readout || marks.length === 0) continue;
  let near = null;
  const show = next => {
    if (next === near) return;
    near?.mark.classList.remove('near');
    next?.mark.classList.add('near');
    readout.textContent = next ? next.text : '';
    near = next;
  };
  const point = event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = null, least = 45 * 45;
    for (const one of marks) {
      // Along the axis counts more than across it, so that a line can be followed without hitting it.
      const distance = (one.x - at.x) ** 2 + ((one.y - at.y) * 0.5) ** 2;
      if (distance < least) { least = distance; best = one; }
    }
    show(best);
  };
  // A finger taps where a pointer hovers.
  svg.addEventListener('pointermove', point);
  svg.addEventListener('pointerdown', point);
  svg.addEventListener('pointerleave', () => show(null));
}
// Paper has no clicks: everything that is closed is opened for the printer, and closed again.
let closed = [];
addEventListener('beforeprint', () => {
  closed = [...document.querySelectorAll('details:not([open])')];
  for (const one of closed) one.open = true;
});
addEventListener('afterprint', () => { for (const one of closed) one.open = false; });
