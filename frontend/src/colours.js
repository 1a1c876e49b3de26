// Colours of classes: eight that are told apart by people who see colours differently (Okabe and Ito's, with the yellow
// darker and the black left out), then others around the circle.

const FIRST = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b08b00", "#56b4e9", "#e69f00"];
const GOLDEN_ANGLE = 137.508;

export function colourOf(c) {
  return FIRST[c] ?? `hsl(${((c * GOLDEN_ANGLE) % 360).toFixed(0)} 55% 50%)`;
}
