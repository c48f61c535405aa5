// Functions of numbers. They compute exactly.
import { Numeric } from '#hcl/values/numeric.ts'
import { asNumber, kindOf } from '#hcl/values/value.ts'
import { HclArgumentError, hclFunction } from './function.ts'

/** Numbers that range() makes at most. */
export const RANGE_MAX = 10_000

export const NUMBER_FUNCTIONS = [
  hclFunction({
    usage: 'min(numbers...)',
    help: 'The least of some numbers',
    example: ['min(3, 1, 2)', '1'],
    takes: ['number'],
    rest: 'number',
    run: (first, ...others) =>
      others.reduce((least, one) => (one.compare(least) < 0 ? one : least), first),
  }),
  hclFunction({
    usage: 'max(numbers...)',
    help: 'The greatest of some numbers',
    example: ['max([3, 1, 2]...)', '3'],
    takes: ['number'],
    rest: 'number',
    run: (first, ...others) =>
      others.reduce((most, one) => (one.compare(most) > 0 ? one : most), first),
  }),
  hclFunction({
    usage: 'sum(list)',
    help: 'The sum of the numbers of a list',
    example: ['sum([0.1, 0.2])', '0.3'],
    takes: ['list'],
    run: (list) =>
      list.reduce<Numeric>((total, item) => {
        const number = asNumber(item)
        if (number === undefined)
          throw new HclArgumentError(`Expected numbers in the list, found ${kindOf(item)}`)
        return total.plus(number)
      }, Numeric.of(0)),
  }),
  hclFunction({
    usage: 'abs(number)',
    help: 'The number without its sign',
    example: ['abs(-2)', '2'],
    takes: ['number'],
    run: (number) => (number.numerator < 0n ? number.negated() : number),
  }),
  hclFunction({
    usage: 'floor(number)',
    help: 'The greatest whole number that is not above the number',
    example: ['floor(-1.5)', '-2'],
    takes: ['number'],
    run: (number) => number.floor(),
  }),
  hclFunction({
    usage: 'ceil(number)',
    help: 'The least whole number that is not below the number',
    example: ['ceil(1.2)', '2'],
    takes: ['number'],
    run: (number) => number.negated().floor().negated(),
  }),
  hclFunction({
    usage: 'range(start, end)',
    help: `The whole numbers from start to before end, at most ${RANGE_MAX}`,
    example: ['range(1, 4)', '[1, 2, 3]'],
    takes: ['integer', 'integer'],
    run: (start, end) => {
      if (end - start > RANGE_MAX)
        throw new HclArgumentError(`Expected at most ${RANGE_MAX} numbers, found ${end - start}`)
      return Array.from({ length: Math.max(0, end - start) }, (_, at) => Numeric.of(start + at))
    },
  }),
]
