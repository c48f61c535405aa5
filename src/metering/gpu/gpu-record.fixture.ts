// A card as `nvidia-smi` told it: an NVIDIA H200 with driver 580.159.04, on 2026-11-27.

const UUID = 'GPU-0a7b6640-5f6c-598a-4338-5104f5eac199'
/** With units, as without `nounits`. */
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
