// Water temperature in °C and steeping time in minutes, one row a tea.
export const teas = [
  { name: 'sencha', degrees: 75, minutes: 2 },
  { name: 'assam', degrees: 95, minutes: 4 },
  { name: 'rooibos', degrees: 100, minutes: 6 },
];

/**
 * The tea with this name, whatever its case.
 * @param {string} name
 */
export function findTea(name) {
  return teas.find(tea => tea.name === name.trim().toLowerCase());
}
