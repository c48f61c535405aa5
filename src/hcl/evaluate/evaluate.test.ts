// Expressions: values as the specification of HCL gives them, exact numbers, unknown values, and limits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResourceValue, UnknownValue, type HclValue } from '#hcl/values/value.ts'
import { shown } from './evaluate-text.fixture.ts'

type Case = readonly [expression: string, gives: string]
const holds = (cases: readonly Case[], names?: Map<string, HclValue>) => {
  for (const [expression, gives] of cases) assert.equal(shown(expression, names), gives, expression)
}

test('operators bind as in HCL, and numbers are exact', () => {
  holds([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['10 - 3 - 2', '5'],
    ['2 * 3 % 4', '2'],
    ['-7 % 3', '-1'],
    ['0.1 + 0.2 == 0.3', 'true'],
    ['1 / 3 * 3', '1'],
    ['1 / 8', '0.125'],
    ['123456789012345678901234567890 + 1', '123456789012345678901234567891'],
    ['1e3', '1000'],
    ['"5" + 1', '6'],
    ['-"5"', '-5'],
    ['1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3', 'true'],
    ['1 == "1"', 'false'],
    ['[1, {a = 2}] == [1, {a = 2}]', 'true'],
    ['{a = 1} != {a = 2}', 'true'],
    ['true || false && false', 'true'],
    ['!true || !false', 'true'],
    ['false && nobody', 'false'],
    ['true || nobody', 'true'],
    ['true ? 1 : nobody', '1'],
    ['false ? 1 : true ? 2 : 3', '2'],
    ['1 / 0', '! The result of / is a division by zero'],
    ['1 + []', '! Expected a number, found a list'],
    ['1 && true', '! Expected true or false, found a number'],
    ['1 < 2 + true', '! Expected a number, found true'],
  ])
})

test('texts are put together, stripped, repeated and chosen', () => {
  holds([
    ['"a${1}b${true}"', '"a1btrue"'],
    ['"${[1]}"', '[1]'],
    ['"x${"y"}"', '"xy"'],
    ['"$${a} %%{b}"', '"${a} %{b}"'],
    ['"a  ${~ 1 ~}  b"', '"a1b"'],
    ['"%{ if 1 == 1 }yes%{ else }no%{ endif }"', '"yes"'],
    ['"%{ if false }yes%{ endif }"', '""'],
    ['"%{ for k, v in ["a", "b"] }${k}${v},%{ endfor }"', '"0a,1b,"'],
    ['<<-A\n      a\n        b${1}\n\n      A\n', '"a\\n  b1\\n\\n"'],
    ['"\\u00e9\\n"', '"é\\n"'],
    ['"a${[1]}"', '! Expected a text within this text, found a list'],
    ['"a${null}"', '! Expected a text within this text, found null'],
  ])
})

test('lists and objects are read, splatted, filtered and grouped', () => {
  const people = '[{n = "a", t = [1]}, {n = "b", t = [2, 3]}]'
  holds([
    [`${people}[*].n`, '["a", "b"]'],
    [`${people}.*.n`, '["a", "b"]'],
    [`${people}.*.t[0]`, '[1]'],
    [`${people}[*].t[0]`, '[1, 2]'],
    [`${people}[*].t[*]`, '[[1], [2, 3]]'],
    ['null[*]', '[]'],
    ['"a"[*]', '["a"]'],
    ['[1, 2].1', '2'],
    ['{a = 1}["a"]', '1'],
    ['{a: 1, "b" = 2, ("c") = 3}', '{ a = 1, b = 2, c = 3 }'],
    ['{__proto__ = 1}.__proto__', '1'],
    ['[for x in [1, 2, 3] : x * 2 if x > 1]', '[4, 6]'],
    ['[for k, v in {b = 1, a = 2} : "${k}${v}"]', '["a2", "b1"]'],
    ['{for x in ["a", "b"] : x => upper(x)}', '{ a = "A", b = "B" }'],
    ['{for x in ["aa", "ab", "ba"] : substr(x, 0, 1) => x...}', '{ a = ["aa", "ab"], b = ["ba"] }'],
    ['{for x in ["a", "a"] : x => 1}', '! Two items have the key a'],
    ['{a = 1, a = 2}', '! Expected the key a once in the object'],
    ['{a = 1}.b', '! There is no b in the object'],
    ['{}.constructor', '! There is no constructor in the object'],
    ['[1][1]', '! The list has no item 1'],
    ['[1][-1]', '! The list has no item -1'],
    ['[1].a', '! Expected an object before .a, found a list'],
    ['[for x in 1 : x]', '! Expected a list or an object after in, found a number'],
  ])
})

test('a value that is not known yet stays unknown, with what it waits for', () => {
  const url = new UnknownValue(['database.orders.url'])
  const names = new Map<string, HclValue>([
    [
      'database',
      new Map([['orders', new ResourceValue('database', 'orders', new Map([['url', url]]))]]),
    ],
  ])
  const unknown = 'unknown(database.orders.url)'
  holds(
    [
      ['database.orders', 'database.orders'],
      ['database.orders.url', unknown],
      ['"${database.orders.url}?ssl=1"', unknown],
      ['{ a = 1, b = database.orders.url }', `{ a = 1, b = ${unknown} }`],
      ['merge({ a = 1 }, { b = database.orders.url })', `{ a = 1, b = ${unknown} }`],
      ['jsonencode([database.orders.url])', unknown],
      ['[database.orders.url][0] == ""', unknown],
      ['database.orders.url == "" ? 1 : 2', unknown],
      ['true || database.orders.url', 'true'],
      ['length([database.orders.url])', '1'],
      ['database.orders.ulr', '! There is no ulr in database.orders'],
      [
        '"x${database.orders}"',
        '! Expected a text within this text, found the database orders itself',
      ],
      ['databse.orders', '! Nothing is named databse here'],
    ],
    names,
  )
})

test('no expression explodes: steps, sizes and depths have limits', () => {
  const doubled = (times: number) =>
    Array.from({ length: times }).reduce<string>((inner) => `[for x in [1, 2] : ${inner}]`, '1')
  const long = '[for i in range(0, 3000) : "0123456789abcdef"]'
  holds([
    [doubled(25), '! The expressions of this file take too many steps'],
    [
      `[for a in range(0, 10000) : [for b in range(0, 10000) : 1]]`,
      '! The expressions of this file take too many steps',
    ],
    [
      `join(join("", ${long}), ${long})`,
      '! join(): Expected a result of at most 1000000 characters',
    ],
    [
      `replace(join("", ${long}), "0", join("", ${long}))`,
      '! replace(): Expected a result of at most 1000000 characters',
    ],
    [`[for i in range(0, 100) : ${long}]`, '! The expressions of this file take too many steps'],
    [
      `try([for i in range(0, 100) : ${long}], 1)`,
      '! The expressions of this file take too many steps',
    ],
    [
      `jsondecode(join("", [for i in range(0, 200) : "["]))`,
      '! jsondecode(): Expected JSON, found something else: Unexpected end of JSON input',
    ],
    [
      `jsondecode(join("", concat([for i in range(0, 200) : "["], [for i in range(0, 200) : "]"])))`,
      '! jsondecode(): Expected at most 100 lists and objects in each other',
    ],
    [
      `[for i in range(0, 9000) : ${'9'.repeat(300)} * ${'7'.repeat(90)} % 7]`,
      '! The expressions of this file take too many steps',
    ],
    [`${'9'.repeat(300)} * ${'9'.repeat(300)}`, '! The result of * has more than 400 digits'],
  ])
})

test('a list of items that are not known yet costs steps whenever it is compared or given to a function', () => {
  const steps = '! The expressions of this file take too many steps'
  const unknown = new UnknownValue(['var.secret'])
  const wide = new UnknownValue(Array.from({ length: 6000 }, (_, nth) => `database.x.y${nth}`))
  const names = new Map<string, HclValue>([
    ['many', Array.from({ length: 2000 }, () => unknown)],
    ['wide', wide],
  ])
  holds(
    [
      ['[for i in range(0, 100) : wide == 1]', steps],
      ['[for i in range(0, 100) : wide + 1]', steps],
      ['[for i in range(0, 100) : wide && wide]', steps],
      ['[for i in range(0, 100) : "${wide}-"]', steps],
      ['[for i in range(0, 100) : wide]', steps],
      ['many == many', 'unknown(var.secret)'],
      ['[for i in range(0, 2000) : many == many]', steps],
      ['[for i in range(0, 2000) : contains(many, 1)]', steps],
    ],
    names,
  )
})

test('JSON of any depth is read or refused', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  holds(
    [
      ['jsondecode(deep)', '! jsondecode(): Expected at most 100 lists and objects in each other'],
      ['jsondecode(signs)', '["[[\\"{"]'],
      [
        'jsondecode(escaped)',
        `! jsondecode(): Expected JSON, found something else: Unexpected token '\\', "\\"\\"\\"\\"\\""... is not valid JSON`,
      ],
    ],
    new Map<string, HclValue>([
      ['deep', deep],
      // Each of these signs would begin a text without an end.
      ['escaped', '\\"'.repeat(200_000)],
      ['signs', JSON.stringify(['[["{'])],
    ]),
  )
})

test('functions pay for each item that they read, and long numbers for their digits', () => {
  const steps = '! The expressions of this file take too many steps'
  const numbers = (count: number) => `[for i in range(0, ${count}) : ${'9'.repeat(390)}]`
  const each = (count: number, list: string, result: string) =>
    `length([for i in range(0, ${count}) : [for all in [${list}] : ${result}]])`
  holds([
    [`length(${numbers(10_000)})`, steps],
    [each(7, numbers(300), 'sum(all)'), steps],
    [each(7, numbers(300), 'distinct(all)'), steps],
    [each(7, numbers(300), 'join("", all)'), steps],
    [each(7, numbers(300), 'max(all...)'), steps],
    [each(7, numbers(300), 'length(all)'), '7'],
    [each(30, 'range(0, 6000)', 'distinct(all)'), steps],
    [each(9, 'range(0, 6000)', 'sum(all)'), '9'],
  ])
})
