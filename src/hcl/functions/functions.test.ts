// Functions: the example of each, and what each refuses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shown } from '#hcl/evaluate/evaluate-text.fixture.ts'
import { HCL_FUNCTIONS } from './functions.ts'

test('the example of every function gives what it says', () => {
  for (const [name, { example }] of HCL_FUNCTIONS) {
    const [call, gives] = example
    assert.ok(call.startsWith(`${name}(`), `${call} is no call of ${name}`)
    assert.equal(shown(call), gives, call)
  }
})

const REFUSED: readonly (readonly [call: string, message: string])[] = [
  ['upper([])', 'upper(): Expected a text, found a list'],
  ['upper()', 'Expected 1 argument, found 0'],
  ['uper("a")', 'There is no function uper'],
  ['join(",", [[]])', 'join(): Expected texts in the list, found a list'],
  ['substr("a", 0.5, 1)', 'substr(): Expected a whole number, found a number'],
  ['range(0, 10001)', 'range(): Expected at most 10000 numbers, found 10001'],
  ['format("%d", "x")', 'format(): Expected a whole number for %d, found a text'],
  ['format("%s")', 'format(): Expected a value for %s, found 0 values'],
  ['format("a", 1)', 'format(): Expected 0 values for the pattern, found 1'],
  ['format("%z", 1)', 'format(): Expected one of %s %d %f %q %v %%, found %z'],
  ['parseint("12", 2)', 'parseint(): Expected a whole number in a base from 2 to 36, found "12"'],
  [
    'jsondecode("{")',
    "jsondecode(): Expected JSON, found something else: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
  ],
  ['base64decode("?")', 'base64decode(): Expected base64, found other characters'],
  ['base64decode("/w==")', 'base64decode(): Expected UTF-8 in base64, found other bytes'],
  ['tonumber("a")', 'tonumber(): Expected a number, found a text'],
  ['coalesce(null)', 'coalesce(): Expected a value that is not empty'],
  ['slice([1], 0, 2)', 'slice(): Expected a part of 1 items'],
  ['split("", "ab")', 'split(): Expected a text that is not empty'],
  ['zipmap(["a"], [])', 'zipmap(): Expected as many values as keys, found 0'],
  ['max([]...)', 'Expected at least 1 argument, found 0'],
  ['can()', 'Expected 1 argument'],
  ['try(nobody)', 'No argument of try() has a value: Nothing is named nobody here'],
]

test('a call that does not fit is refused with what was expected', () => {
  for (const [call, message] of REFUSED) assert.equal(shown(call), `! ${message}`, call)
})

test('functions keep digits, count characters, and pad as asked', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['length("añ😀")', '3'],
    ['substr("añ😀b", 1, 2)', '"ñ😀"'],
    ['substr("abc", -2, -1)', '"bc"'],
    [
      'jsondecode("[123456789012345678901234567890, 0.1]")',
      '[123456789012345678901234567890, 0.1]',
    ],
    ['jsonencode(123456789012345678901234567890)', '"123456789012345678901234567890"'],
    [
      'format("%5s|%-5s|%05d|%.2f|%f|%q|%v|%%", "a", "b", -7, 2.345, 1, "c", [1])',
      '"    a|b    |-0007|2.35|1.000000|\\"c\\"|[1]|%"',
    ],
    ['distinct([1, "1", [1], [1], true])', '[1, "1", [1], true]'],
    ['replace("aaa", "a", "bb")', '"bbbbbb"'],
    ['merge()', '{  }'],
    ['can(nobody.x)', 'false'],
    ['try(nobody.x, "a")', '"a"'],
  ]
  for (const [call, gives] of cases) assert.equal(shown(call), gives, call)
})
