// ergon validate as a person calls it; and the guide, whose examples are descriptions without a fault.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { RESOURCE_TYPES } from '#stack/resource-types.ts'
import { SourceText } from '#hcl/source-text.ts'
import { describeStack } from '#stack/describe.ts'

const ROOT = join(import.meta.dirname, '../..')
const GUIDE = readFileSync(join(ROOT, 'docs/guide/description-file.md'), 'utf8')
const EXAMPLES = [...GUIDE.matchAll(/```hcl\n([\s\S]*?)```/g)].map(([, text = '']) => text)
const folder = mkdtempSync(join(tmpdir(), 'ergon-validate-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const ergon = (...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const program = join(ROOT, 'src/cli/ergon.mjs')
    const options = { cwd: folder, timeout: 60_000, env: { PATH: process.env['PATH'] } }
    execFile(process.execPath, [program, ...words], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    )
  })

test('every example of the guide is a description without a fault, and has every block and attribute', () => {
  assert.ok(EXAMPLES.length >= 5)
  for (const text of EXAMPLES)
    assert.deepEqual(describeStack({ source: new SourceText('guide', text) }).diagnostics, [], text)
  const all = EXAMPLES.join('\n')
  for (const [type, block] of Object.entries(RESOURCE_TYPES)) {
    assert.match(all, new RegExp(`^${type} "`, 'm'))
    const inner = 'blocks' in block ? Object.keys(block.blocks) : []
    for (const name of [...Object.keys(block.attributes), ...inner])
      assert.match(all, new RegExp(`^ +${name} .*[={]`, 'm'), `${type} ${name}`)
  }
})

test('ergon validate prints the resources in their order', async () => {
  writeFileSync(join(folder, 'ergon.hcl'), EXAMPLES[0] ?? '')
  const { code, stdout, stderr } = await ergon('validate')
  assert.deepEqual(
    [code, stdout, stderr],
    [
      0,
      'ok ergon.hcl: 2 resources\n  workload.api\n  route.api.example.com  after workload.api\n',
      '',
    ],
  )
})

test('validate, plan and deploy take the file as a word and by --file, and find the missing file of a function', async () => {
  mkdirSync(join(folder, 'shop'))
  writeFileSync(join(folder, 'shop/ergon.hcl'), 'function "f" {\n  file = "hello.ts"\n}\n')
  const place = 'shop/ergon.hcl:2:10: There is no file hello.ts of function f; check the path'
  for (const command of ['validate', 'plan', 'deploy'])
    for (const words of [['shop/ergon.hcl'], ['--file', 'shop/ergon.hcl']]) {
      const { code, stderr } = await ergon(command, ...words)
      assert.equal(code, 1, stderr)
      assert.ok(stderr.includes(place), stderr)
    }
  const both = await ergon('plan', 'a.hcl', '--file', 'b.hcl')
  assert.equal(both.code, 2)
  assert.match(both.stderr, /There are two description files: a\.hcl and b\.hcl/)
  const none = await ergon('deploy', 'none.hcl')
  assert.match(none.stderr, /try: .*ergon deploy path\/to\/ergon\.hcl/)
})

test('ergon validate --json has resources without the values of secrets, and ends with 1 on faults', async () => {
  writeFileSync(
    join(folder, 'a.hcl'),
    'variable "tag" {\n}\nworkload "api" {\n  image = "a:${var.tag}"\n  energy_budget = "5 kJ/day"\n  secret "KEY" {\n    value = "s3cret"\n  }\n}\n',
  )
  const good = await ergon('validate', 'a.hcl', '--var', 'tag=1', '--json')
  assert.equal(good.code, 0, good.stderr)
  assert.ok(!good.stdout.includes('s3cret'))
  assert.deepEqual(JSON.parse(good.stdout), {
    ok: true,
    file: 'a.hcl',
    diagnostics: [],
    resources: [
      {
        address: 'workload.api',
        type: 'workload',
        name: 'api',
        needs: [],
        line: 3,
        spec: {
          name: 'api',
          image: 'a:1',
          energy_budget: '5000000000000',
          secret: [{ name: 'KEY' }],
        },
      },
    ],
    outputs: [],
  })
  const bad = await ergon('validate', 'a.hcl', '--var', 'tag=1', '--var', 'tga=2', '--json')
  assert.equal(bad.code, 1)
  const { ok, diagnostics } = JSON.parse(bad.stdout) as { ok: boolean; diagnostics: unknown[] }
  assert.deepEqual(
    [ok, diagnostics],
    [
      false,
      [
        {
          file: 'a.hcl',
          line: 1,
          column: 1,
          message: 'The file has no variable tga',
          hint: 'did you mean "tag"?',
        },
      ],
    ],
  )
})

test('ergon validate tells a fault with its line, and what it cannot read', async () => {
  writeFileSync(join(folder, 'b.hcl'), 'worklod "x" {\n}\n')
  const { code, stderr } = await ergon('validate', 'b.hcl')
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^b\.hcl:1:1: There is no block worklod; did you mean "workload"\?\n 1 \| worklod "x" \{\n {3}\| \^{7}\n/,
  )
  const missing = await ergon('validate', 'c.hcl')
  assert.deepEqual(
    [
      missing.code,
      /Could not read the description c\.hcl: there is no such file\n/.test(missing.stderr),
    ],
    [1, true],
  )
  const wrong = await ergon('validate', 'b.hcl', '--var', 'x')
  assert.deepEqual([wrong.code, /Not a variable: "x"/.test(wrong.stderr)], [2, true])
})
