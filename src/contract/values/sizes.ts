// Sizes of memory and storage as text: `128MB`. Every request and every description file reads them here.

const UNITS = {
  TiB: 2 ** 40,
  TB: 1e12,
  GiB: 2 ** 30,
  GB: 1e9,
  MiB: 2 ** 20,
  MB: 1e6,
  KiB: 2 ** 10,
  kB: 1e3,
} as const
const SIZE = /^(\d{1,7}) ?(kB|MB|GB|TB|KiB|MiB|GiB|TiB)$/

/** The least and the most that is taken, as texts. */
export type SizeRange = { readonly least: string; readonly most: string }

/** Bytes of a size; undefined where it is none, or out of range. */
export function bytesOfSize(text: string, { least, most }: SizeRange): number | undefined {
  const bytes = read(text)
  return bytes >= read(least) && bytes <= read(most) ? bytes : undefined
}

function read(text: string): number {
  const [, figure, unit] = SIZE.exec(text) ?? []
  return Number(figure) * UNITS[unit as keyof typeof UNITS]
}

/** The size in the greatest unit of which it is a whole number; bytesOfSize() reads it again. */
export function sizeText(bytes: number): string {
  const whole = Object.entries(UNITS).filter(([, unit]) => bytes % unit === 0)
  const [unit, size] = whole.toSorted(([, a], [, b]) => b - a)[0] ?? ['B', 1]
  return `${bytes / size}${unit}`
}
