// One line of `nvidia-smi --query-gpu`: a card at one moment. The texts are of a real card, an NVIDIA H200 with driver
// 580.159.04; N/A stands in brackets where a card or a driver does not give a figure.

/** In the order of a line. A name may contain the separator, so fields are counted from both ends. */
export const CARD_FIELDS = [
  'index',
  'uuid',
  'name',
  'driver_version',
  'power.draw.average',
  'enforced.power.limit',
  'utilization.gpu',
] as const

export type CardReading = {
  readonly uuid: string
  readonly name: string
  readonly driver: string
  /** Mean of the last second; absent on cards before Ampere, and while the driver cannot read it. */
  readonly milliwatts?: bigint
  readonly limitMilliwatts?: bigint
  /** Part of the last sample in which something ran on the card. */
  readonly busyPercent?: bigint
}

const SEPARATOR = ', '
const UUID = /^GPU-[0-9a-f-]{8,60}$/
const DECIMAL = /^(\d{1,7})(?:\.(\d{1,6}))?$/
const NAME_MAX = 100

/** The reading of a line; undefined for a line of another form, such as a fault in words. */
export function readCardLine(line: string): CardReading | undefined {
  const parts = line.trim().split(SEPARATOR)
  if (parts.length < CARD_FIELDS.length) return undefined
  const [index = '', uuid = ''] = parts
  const [driver = '', power = '', limit = '', busy = ''] = parts.slice(-4)
  const name = parts.slice(2, -4).join(SEPARATOR)
  if (!/^\d{1,3}$/.test(index) || !UUID.test(uuid) || name.length > NAME_MAX) return undefined
  const milliwatts = thousandthsOf(power, 'W')
  const limitMilliwatts = thousandthsOf(limit, 'W')
  const busyMilli = thousandthsOf(busy, '%')
  return {
    uuid,
    name,
    driver,
    ...(milliwatts === undefined ? {} : { milliwatts }),
    ...(limitMilliwatts === undefined ? {} : { limitMilliwatts }),
    ...(busyMilli === undefined ? {} : { busyPercent: least(busyMilli / 1000n, 100n) }),
  }
}

/** `78.25` and `78.25 W` alike; undefined for `[N/A]`, `[Unknown Error]` and everything else. */
function thousandthsOf(text: string, unit: string): bigint | undefined {
  const figure = text.endsWith(` ${unit}`) ? text.slice(0, -unit.length - 1) : text
  const match = DECIMAL.exec(figure)
  if (match === null) return undefined
  const [, whole = '', fraction = ''] = match
  return BigInt(whole) * 1000n + BigInt(fraction.slice(0, 3).padEnd(3, '0'))
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
