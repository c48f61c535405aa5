// Functions of lists and objects. Those that do not look into the parts keep parts that are not known yet.
import { Numeric } from '#hcl/values/numeric.ts'
import {
  equalValues,
  isList,
  isObject,
  kindOf,
  sortedKeys,
  type HclList,
  type HclValue,
} from '#hcl/values/value.ts'
import { HclArgumentError, hclFunction, textItems } from './function.ts'
import { jsonOf } from './json-value.ts'

export const COLLECTION_FUNCTIONS = [
  hclFunction({
    usage: 'length(value)',
    help: 'The number of characters, items or entries',
    example: ['length(["a", "b"])', '2'],
    takes: ['any'],
    keepsUnknown: true,
    run: (value) => Numeric.of(lengthOf(value)),
  }),
  hclFunction({
    usage: 'merge(objects...)',
    help: 'An object with the entries of all; of equal keys the last one counts',
    example: ['merge({ a = 1 }, { b = 2 })', '{ a = 1, b = 2 }'],
    takes: [],
    rest: 'object',
    keepsUnknown: true,
    run: (...objects) => new Map(objects.flatMap((object) => [...object])),
  }),
  hclFunction({
    usage: 'keys(object)',
    help: 'The keys of an object, in order',
    example: ['keys({ b = 1, a = 2 })', '["a", "b"]'],
    takes: ['object'],
    keepsUnknown: true,
    run: (object) => sortedKeys(object),
  }),
  hclFunction({
    usage: 'values(object)',
    help: 'The values of an object, in the order of its keys',
    example: ['values({ b = 1, a = 2 })', '[2, 1]'],
    takes: ['object'],
    keepsUnknown: true,
    run: (object) => sortedKeys(object).map((key) => object.get(key) ?? null),
  }),
  hclFunction({
    usage: 'lookup(object, key, otherwise)',
    help: 'The value of a key, or another one where the key is absent',
    example: ['lookup({ a = 1 }, "b", 0)', '0'],
    takes: ['object', 'text', 'any'],
    keepsUnknown: true,
    run: (object, key, otherwise) => object.get(key) ?? otherwise,
  }),
  hclFunction({
    usage: 'contains(list, value)',
    help: 'Whether the list has an equal item',
    example: ['contains(["a"], "b")', 'false'],
    takes: ['list', 'any'],
    run: (list, value) => list.some((item) => equalValues(item, value)),
  }),
  hclFunction({
    usage: 'concat(lists...)',
    help: 'A list with the items of all',
    example: ['concat([1], [2, 3])', '[1, 2, 3]'],
    takes: [],
    rest: 'list',
    keepsUnknown: true,
    run: (...lists) => lists.flat(),
  }),
  hclFunction({
    usage: 'flatten(list)',
    help: 'The items of a list and of the lists in it',
    example: ['flatten([1, [2, [3]]])', '[1, 2, 3]'],
    takes: ['list'],
    keepsUnknown: true,
    run: (list) => flat(list),
  }),
  hclFunction({
    usage: 'distinct(list)',
    help: 'The items without repetitions',
    example: ['distinct(["a", "b", "a"])', '["a", "b"]'],
    takes: ['list'],
    run: (list) => distinct(list),
  }),
  hclFunction({
    usage: 'reverse(list)',
    help: 'The items in the opposite order',
    example: ['reverse([1, 2])', '[2, 1]'],
    takes: ['list'],
    keepsUnknown: true,
    run: (list) => list.toReversed(),
  }),
  hclFunction({
    usage: 'sort(list)',
    help: 'The texts of a list in the order of their characters',
    example: ['sort(["b", "a"])', '["a", "b"]'],
    takes: ['list'],
    run: (list) => textItems(list).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
  }),
  hclFunction({
    usage: 'slice(list, start, end)',
    help: 'The items from start to before end, counted from 0',
    example: ['slice(["a", "b", "c"], 1, 3)', '["b", "c"]'],
    takes: ['list', 'integer', 'integer'],
    keepsUnknown: true,
    run: (list, start, end) => {
      if (start < 0 || end < start || end > list.length)
        throw new HclArgumentError(`Expected a part of ${list.length} items`)
      return list.slice(start, end)
    },
  }),
  hclFunction({
    usage: 'zipmap(keys, values)',
    help: 'An object of keys and values that stand in two lists of one length',
    example: ['zipmap(["a", "b"], [1, 2])', '{ a = 1, b = 2 }'],
    takes: ['list', 'list'],
    run: (keys, values) => {
      if (keys.length !== values.length)
        throw new HclArgumentError(`Expected as many values as keys, found ${values.length}`)
      return new Map(textItems(keys).map((key, at) => [key, values[at] ?? null]))
    },
  }),
  hclFunction({
    usage: 'coalesce(values...)',
    help: 'The first value that is neither null nor an empty text',
    example: ['coalesce(null, "", "a")', '"a"'],
    takes: ['any'],
    rest: 'any',
    run: (...values) => {
      const first = values.find((value) => value !== null && value !== '')
      if (first === undefined) throw new HclArgumentError('Expected a value that is not empty')
      return first
    },
  }),
]

function lengthOf(value: HclValue): number {
  if (typeof value === 'string') return [...value].length
  if (value !== null && isList(value)) return value.length
  if (value !== null && isObject(value)) return value.size
  throw new HclArgumentError(`Expected a text, a list or an object, found ${kindOf(value)}`)
}

/** The depth of a value is bounded. */
const flat = (list: HclList): HclValue[] =>
  list.flatMap((item) => (item !== null && isList(item) ? flat(item) : [item]))

/** The first of equal items; their JSON tells 1 and "1" apart. */
function distinct(list: HclList): HclValue[] {
  const seen = new Set<string>()
  return list.filter((item) => {
    const json = jsonOf(item)
    return !seen.has(json) && seen.add(json)
  })
}
