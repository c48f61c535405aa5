// True while the palette is open: the head, the keys and the palette share it.
let isOpen = false
const listeners = new Set<() => void>()

function set(next: boolean): void {
  isOpen = next
  for (const listener of listeners) listener()
}
export const openPalette = (): void => set(true)
export const closePalette = (): void => set(false)
export const isPaletteOpen = (): boolean => isOpen
export function onPalette(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
