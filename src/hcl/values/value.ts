// Values of expressions. Objects are maps, so that no key means anything to JavaScript; what a plan cannot know yet is a
// value too.
import { Numeric } from './numeric.ts'

export type HclValue =
  | null
  | boolean
  | string
  | Numeric
  | HclList
  | HclObject
  | UnknownValue
  | ResourceValue
export type HclList = readonly HclValue[]
export type HclObject = ReadonlyMap<string, HclValue>

/** Known when all of these are: attributes such as database.orders.url, and sensitive variables. */
export class UnknownValue {
  readonly needs: readonly string[]
  constructor(needs: readonly string[]) {
    this.needs = needs
  }
}

/** A resource of the description, such as workload.api, with the attributes that others can refer to. */
export class ResourceValue {
  readonly type: string
  readonly name: string
  readonly attributes: HclObject
  constructor(type: string, name: string, attributes: HclObject) {
    this.type = type
    this.name = name
    this.attributes = attributes
  }
  get address(): string {
    return `${this.type}.${this.name}`
  }
}

export const isList = (value: HclValue): value is HclList => Array.isArray(value)
export const isObject = (value: HclValue): value is HclObject => value instanceof Map

/** The kind of the value, for messages. */
export function kindOf(value: HclValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'a text'
  if (typeof value === 'boolean') return String(value)
  if (value instanceof Numeric) return 'a number'
  if (value instanceof UnknownValue) return 'a value that is not known yet'
  if (value instanceof ResourceValue) return `the ${value.type} ${value.name} itself`
  return isList(value) ? 'a list' : 'an object'
}

/** Keys in the order in which `for`, keys() and jsonencode() see them. */
export const sortedKeys = (value: HclObject): string[] =>
  [...value.keys()].toSorted((a, b) => (a < b ? -1 : 1))

/** As a number: also of a text that is one. Undefined of every other value. */
export function asNumber(value: HclValue): Numeric | undefined {
  if (value instanceof Numeric) return value
  return typeof value === 'string' ? Numeric.read(value) : undefined
}

/** As a text: also of a number or of true and false. Undefined of every other value. */
export function asText(value: HclValue): string | undefined {
  if (typeof value === 'string') return value
  return value instanceof Numeric || typeof value === 'boolean' ? value.toString() : undefined
}

/** The value as a boolean; the texts "true" and "false" count too. Undefined for every other value. */
export function asFlag(value: HclValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  return value === 'true' ? true : value === 'false' ? false : undefined
}

/** True for the same type and the same content: 1 and "1" differ, as in every HCL. */
export function equalValues(one: HclValue, other: HclValue): boolean {
  if (one instanceof Numeric) return other instanceof Numeric && one.equals(other)
  if (one === null || typeof one !== 'object') return one === other
  if (one instanceof ResourceValue)
    return other instanceof ResourceValue && one.address === other.address
  if (one instanceof UnknownValue) return one === other
  if (isList(one))
    return (
      other !== null &&
      isList(other) &&
      one.length === other.length &&
      one.every((item, index) => equalValues(item, other[index] ?? null))
    )
  return (
    other !== null &&
    isObject(other) &&
    one.size === other.size &&
    [...one].every(([key, item]) => {
      const its = other.get(key)
      return its !== undefined && equalValues(item, its)
    })
  )
}
