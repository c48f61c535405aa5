// A fault of a description quotes no sensitive variable, no secret output, and nothing that is made of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { readStack } from './described.ts'

const SECRET = 'whsec_do-not-show'
const FILE = { file: 'app.ts', source: '' }

/** The message of the refusal of a workload with these attributes. */
function refusalOf(attributes: string, variables: Readonly<Record<string, string>> = {}): string {
  const description = `variable "s" {
  default   = "${SECRET}"
  sensitive = true
}
webhook "w" {
  url    = "https://example.com/"
  events = ["workload.deployed"]
}
workload "api" {
  image = "api:1"
  ${attributes}
}
`
  const outputs = new Map([['webhook.w', new Map([['secret', SECRET]])]])
  const input = { description, file: 'ergon.hcl', variables, files: { 'app.ts': FILE } }
  try {
    readStack(input, { revealed: outputs, shown: new Map() })
  } catch (error) {
    assert.ok(error instanceof ErgonError)
    return error.message
  }
  throw new assert.AssertionError({ message: 'It was read' })
}

const WITH_SECRETS = [
  'memory = webhook.w.secret',
  'memory = var.s',
  'memory = "${var.s}"',
  'memory = <<EOT\n${var.s}\nEOT',
  'memory = substr(webhook.w.secret, 0, 8)',
  'memory = length(webhook.w.secret)',
  'env = {}[var.s]',
  'env = { "${var.s}" = 1, (var.s) = 2 }',
  'env = { for one in [1, 2] : var.s => one }',
  'memory = ["a"][length(var.s)]',
  'memory = tonumber(var.s)',
  'memory = try(tonumber(webhook.w.secret))',
  'memory = jsondecode(var.s)',
]

test('no fault quotes a hidden value', () => {
  for (const attributes of WITH_SECRETS) {
    const said = refusalOf(attributes)
    assert.match(said, /ergon\.hcl:1\d:\d+: .*hidden value/, attributes)
    assert.doesNotMatch(said, /whs|-show|item 17|found 17/, attributes)
  }
})

test('a fault without hidden values quotes what it found, and is told alone', () => {
  assert.match(refusalOf('memory = "some"'), /found "some"$/)
  const said = refusalOf('memory = "some"\n  cpu = var.s')
  assert.match(said, /found "some"$/)
  assert.doesNotMatch(said, /whs/)
})

test('a sensitive variable without a value, or of another type, is named', () => {
  const description = 'variable "t" {\n  type = number\n  sensitive = true\n}\n'
  const read = (variables: Readonly<Record<string, string>>) => () =>
    readStack(
      { description, file: 'ergon.hcl', variables, files: {} },
      { revealed: new Map(), shown: new Map() },
    )
  assert.throws(read({}), /The variable t has no value; give it by --var t=…$/)
  assert.throws(read({ t: SECRET }), /Expected t to be a number, found a hidden value$/)
})
