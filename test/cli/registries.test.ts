// Passwords of registries by the command line: kept, listed and forgotten, and never a word of a command or an answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { commandLine } from './command-line.ts'

product(PLAIN)
const { run, runAlone, json } = commandLine()
const REGISTRY = 'registry.example.com:5000'

test('`ergon registry login`, list and logout', async () => {
  const login = ['registry', 'login', REGISTRY, '--username', 'reader', '--password-stdin']
  const made = await runAlone(login, { input: 'a:s3cret\n' })
  assert.equal(made.code, 0, made.stderr)
  assert.doesNotMatch(made.stdout + made.stderr, /s3cret/)
  const { data } = (await json(['registry', 'list'])) as { data: { registry: string }[] }
  assert.equal(data.filter(({ registry }) => registry === REGISTRY).length, 1)
  assert.doesNotMatch(JSON.stringify(data), /s3cret/)
  assert.match((await run(['registry', 'list'])).stdout, /registry\.example\.com:5000 +reader/)
  const gone = await run(['registry', 'logout', REGISTRY])
  assert.equal(gone.code, 0, gone.stderr)
  const again = await run(['registry', 'logout', REGISTRY])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /registry_not_found|Could not find a password of registry/)
})

test('`ergon registry login` without a user or a password on stdin changes nothing, and says how', async () => {
  for (const words of [['--username', 'a'], ['--password-stdin'], []]) {
    const { code, stderr } = await run(['registry', 'login', 'ghcr.io', ...words])
    assert.equal(code, 2)
    assert.match(stderr, /--username and --password-stdin are needed/)
  }
  const empty = await runAlone(
    ['registry', 'login', 'ghcr.io', '--username', 'a', '--password-stdin'],
    { input: '' },
  )
  assert.match(empty.stderr, /password/)
  assert.notEqual(empty.code, 0)
})
