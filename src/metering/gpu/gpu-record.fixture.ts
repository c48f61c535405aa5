// A card as `nvidia-smi` told it: an NVIDIA H200 with driver 580.159.04, on 2026-11-27.

const UUID = 'GPU-0a7b6640-5f6c-598a-4338-5104f5eac199'
/** The line with units, as `nvidia-smi` prints it without `nounits`. */
export const IDLE_WITH_UNITS = `0, ${UUID}, NVIDIA H200, 580.159.04, 78.25 W, 700.00 W, 0 %`
export const IDLE_LINE = `0, ${UUID}, NVIDIA H200, 580.159.04, 78.20, 700.00, 0`

/** The line of a card of the same kind, with other figures. */
export const cardLine = (figures: {
  readonly index?: number
  readonly watts: string
  readonly busy?: string
}): string => {
  const { index = 0, watts, busy = '0' } = figures
  const uuid = index === 0 ? UUID : `${UUID.slice(0, -1)}${index}`
  return `${index}, ${uuid}, NVIDIA H200, 580.159.04, ${watts}, 700.00, ${busy}`
}

export const cardUuid = (index = 0): string => (index === 0 ? UUID : `${UUID.slice(0, -1)}${index}`)

/**
 * Seconds of a run of the product on an H200, on 2026-11-27, a model of 3 G parameters in F16: one request at once until
 * second 16, then none. Each second: mJ that work added, ms of steps, ms that requests paid for, and mJ of their bills.
 */
export const H200_SECONDS: readonly (readonly [
  addedMj: number,
  busyMs: number,
  chargedMs: number,
  billedMj: number,
])[] = [
  [109500, 379, 379, 0],
  [152310, 430, 430, 0],
  [144050, 431, 431, 79641],
  [151690, 438, 438, 113857],
  [154410, 460, 460, 137416],
  [151600, 427, 427, 138588],
  [150710, 446, 446, 148714],
  [161530, 453, 453, 155694],
  [148770, 450, 450, 155736],
  [148070, 432, 432, 151437],
  [137320, 451, 451, 157055],
  [147070, 422, 422, 143604],
  [138620, 422, 422, 143749],
  [139100, 423, 423, 140623],
  [137910, 423, 423, 140252],
  [69470, 226, 145, 48251],
  [430, 0, 0, 0],
  [0, 0, 0, 0],
  [0, 0, 0, 0],
  [0, 0, 0, 0],
  [0, 0, 0, 0],
  [0, 0, 0, 0],
]
