// Limits: description files.
import { DIAGNOSTICS_MAX } from '#hcl/diagnostics.ts'
import {
  EVALUATION_STEPS_MAX,
  VALUE_DEPTH_MAX,
  VALUE_SIZE_MAX,
} from '#hcl/evaluate/evaluation-budget.ts'
import { SOURCE_LENGTH_MAX } from '#hcl/syntax/parse-body.ts'
import { NESTING_MAX } from '#hcl/syntax/syntax-reader.ts'
import { NUMBER_DIGITS_MAX } from '#hcl/values/numeric.ts'
import { RESOURCES_MAX } from '#stack/stack.ts'
import { count, words, type LimitSection } from './limit.ts'

const A_FAULT = words('exit 1 of `ergon validate`')

export const DESCRIPTIONS_OF_STACKS: LimitSection = {
  title: 'Description files',
  intro: 'Of `ergon.hcl`. Each is a fault with its place in the file.',
  limits: [
    ['characters of a file', count(SOURCE_LENGTH_MAX), A_FAULT],
    ['resources of a file', count(RESOURCES_MAX), A_FAULT],
    ['blocks, lists, texts and signs within each other', count(NESTING_MAX), A_FAULT],
    ['digits of a number', count(NUMBER_DIGITS_MAX), A_FAULT],
    ['steps of all expressions of a file', count(EVALUATION_STEPS_MAX), A_FAULT],
    ['characters and items of a value', count(VALUE_SIZE_MAX), A_FAULT],
    ['lists and objects of a value within each other', count(VALUE_DEPTH_MAX), A_FAULT],
    ['faults that are told', count(DIAGNOSTICS_MAX), words('the first ones are told')],
  ],
}
