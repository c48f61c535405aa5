// The cost of all expressions of a file is bounded. Every value that is built is measured, so none is too deep or too
// long for recursion, and sharing a part a thousand times counts a thousand times.
import { HclFault } from '#hcl/diagnostics.ts'
import type { TextRange } from '#hcl/source-text.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import {
  isList,
  isObject,
  UnknownValue,
  type HclList,
  type HclObject,
  type HclValue,
} from '#hcl/values/value.ts'

/** Nodes that are evaluated, and parts of values that are built or read. */
export const EVALUATION_STEPS_MAX = 200_000
/** Characters and items of one value, with all that is in it. */
export const VALUE_SIZE_MAX = 1_000_000
/** Lists and objects within each other. */
export const VALUE_DEPTH_MAX = 100

/** A limit was met: try() and can() do not hide it. */
export class HclLimitFault extends HclFault {}

type ValueMeasure = {
  readonly size: number
  readonly depth: number
  readonly isKnown: boolean
  /** The addresses that it waits for, each once. */
  readonly needs: readonly string[]
  /** Steps that a function takes which reads all parts. */
  readonly steps: number
}

const SIMPLE: ValueMeasure = { size: 1, depth: 0, isKnown: true, needs: [], steps: 1 }

export class EvaluationBudget {
  #steps = 0
  readonly #measures = new WeakMap<object, ValueMeasure>()

  /** Throws HclLimitFault when the steps of the file are used up. */
  spend(range: TextRange, steps = 1): void {
    this.#steps += steps
    if (this.#steps > EVALUATION_STEPS_MAX)
      throw new HclLimitFault(range, 'The expressions of this file take too many steps')
  }

  /** The value, measured. Throws HclLimitFault of one that is too large. */
  made<Value extends HclValue>(range: TextRange, value: Value): Value {
    const { size, depth } = this.#measure(range, value, 0)
    this.spend(range, 1 + Math.ceil(size / 16))
    if (size > VALUE_SIZE_MAX)
      throw new HclLimitFault(range, `Expected a value of at most ${VALUE_SIZE_MAX} characters`)
    if (depth > VALUE_DEPTH_MAX) throw tooDeep(range)
    return value
  }

  /** Spends a step for each part of a value that a function reads, and more for a long number. */
  read(range: TextRange, value: HclValue): void {
    this.spend(range, this.#measure(range, value, 0).steps)
  }

  /** No part of the value is unknown. */
  isKnown(value: HclValue): boolean {
    return this.#measure({ start: 0, end: 0 }, value, 0).isKnown
  }

  /** The addresses that the value waits for, each once. */
  needsOf(value: HclValue): readonly string[] {
    return this.#measure({ start: 0, end: 0 }, value, 0).needs
  }

  #measure(range: TextRange, value: HclValue, above: number): ValueMeasure {
    if (typeof value === 'string') return { ...SIMPLE, size: value.length + 1 }
    if (value instanceof Numeric) return { ...SIMPLE, size: value.length, steps: value.steps }
    if (value instanceof UnknownValue) return { ...SIMPLE, isKnown: false, needs: value.needs }
    if (value === null || typeof value !== 'object' || !(isList(value) || isObject(value)))
      return SIMPLE
    const known = this.#measures.get(value)
    if (known !== undefined) return known
    if (above > VALUE_DEPTH_MAX) throw tooDeep(range)
    const measure = this.#sum(range, value, above + 1)
    this.#measures.set(value, measure)
    return measure
  }

  #sum(range: TextRange, value: HclList | HclObject, above: number): ValueMeasure {
    let [size, depth, isKnown, steps] = [1, 0, true, 1]
    const needs = new Set<string>()
    if (isObject(value)) for (const key of value.keys()) size += key.length + 1
    for (const part of partsOf(value)) {
      const measure = this.#measure(range, part, above)
      size += measure.size
      depth = Math.max(depth, measure.depth)
      isKnown &&= measure.isKnown
      steps += measure.steps
      // An item may wait for thousands of addresses, and stand in the list ten thousand times.
      this.spend(range, measure.needs.length)
      for (const need of measure.needs) needs.add(need)
    }
    return { size, depth: depth + 1, isKnown, needs: [...needs], steps }
  }
}

const tooDeep = (range: TextRange) =>
  new HclLimitFault(range, `Expected at most ${VALUE_DEPTH_MAX} lists and objects in each other`)

function partsOf(value: HclValue): HclValue[] {
  if (value === null || typeof value !== 'object') return []
  if (isList(value)) return [...value]
  return isObject(value) ? [...value.values()] : []
}
