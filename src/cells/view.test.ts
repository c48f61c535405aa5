import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { planView, type VisibleFolder, VIEW_SCRIPT } from './view.ts'

/** The steps of a plan. */
function stepsOf(view: Parameters<typeof planView>[0]): string[] {
  const words = planView(view)
  const steps: string[] = []
  for (let at = 0; at < words.length;) {
    const count = { make: Number(words[at + 2]) + 3, bind: 3 }[String(words[at])] ?? 2
    steps.push(words.slice(at, at + count).join(' '))
    at += count
  }
  return steps
}

const show = (kind: VisibleFolder['kind'], path: string): VisibleFolder => ({ kind, path })

test('planView() makes ready what covers a folder, with all that is shown in it, and covers it then', () => {
  const steps = stepsOf({
    show: [show('write', '/app/data/a'), show('read', '/app'), show('need', '/usr/bin')],
    hide: ['/app/data'],
    blockedFor: 'nobody',
  })
  assert.deepEqual(steps, [
    'empty /dev/shm',
    'make 0755 2 /dev/shm/0 /dev/shm/0/a',
    'bind /app /app',
    'bind /app/data/a /dev/shm/0/a',
    'bind /dev/shm/0 /app/data',
    'freeze /app',
    'empty /dev/shm',
  ])
})

test('planView() leaves out what changes nothing', () => {
  const steps = stepsOf({
    show: [show('read', '/app'), show('read', '/app/src'), show('need', '/app/bin')],
    hide: ['/data', '/data/cells'],
    blockedFor: 'nobody',
  })
  assert.deepEqual(steps, [
    'empty /dev/shm',
    'make 0755 1 /dev/shm/0',
    'bind /app /app',
    'bind /dev/shm/0 /data',
    'freeze /app',
    'empty /dev/shm',
  ])
})

test('planView() hides a folder that bars the way, and only then shows a needed one', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'view-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'open', 'program')
  mkdirSync(folder, { recursive: true })
  chmodSync(root, 0o700)
  const view = { show: [show('need', folder)], hide: [], blockedFor: 'others' } as const
  const inside = '/dev/shm/0/open/program'
  assert.deepEqual(stepsOf(view), [
    'empty /dev/shm',
    `make 0755 2 /dev/shm/0 ${inside}`,
    `bind ${folder} ${inside}`,
    `bind /dev/shm/0 ${root}`,
    `freeze ${folder}`,
    'empty /dev/shm',
  ])
  chmodSync(root, 0o711)
  assert.deepEqual(stepsOf(view), ['empty /dev/shm'])
})

const OWN = ['unshare', '--user', '--map-root-user', '--mount', '--'] as const
const CANNOT = spawnSync(OWN[0], [...OWN.slice(1), 'true']).status !== 0
const NEEDS = { skip: CANNOT ? 'user namespaces are forbidden here' : false }

/** The output of a shell script that runs in a view. */
function within(view: readonly string[], script: string, ...words: readonly string[]) {
  const run = ['sh', '-c', VIEW_SCRIPT, 'view', ...view, '--', 'sh', '-c', script, 'see', ...words]
  return spawnSync(OWN[0], [...OWN.slice(1), ...run], { encoding: 'utf8' })
}

test('a view has what is shown, as it may be used, and nothing else', NEEDS, (t) => {
  const root = mkdtempSync(join(tmpdir(), 'view-'))
  t.after(() => rmSync(root, { recursive: true }))
  const at = (...names: string[]) => join(root, ...names)
  const folders = [
    'app',
    'app/data',
    'app/data/own $(id) "x"',
    'app/data/other',
    'app/data/lib',
    'app/data/lib/cache',
    'app/data/lib/keys',
    'app/data/lib/keys/mine',
    'app/data/lib/keys/theirs',
  ]
  for (const folder of folders) {
    mkdirSync(at(folder))
    writeFileSync(at(folder, 'file'), folder)
  }
  const view = planView({
    show: [
      show('read', at('app')),
      show('write', at('app/data/own $(id) "x"')),
      show('read', at('app/data/lib')),
      show('write', at('app/data/lib/cache')),
      show('need', at('app/data/lib/keys/mine')),
    ],
    hide: [at('app/data'), at('app/data/lib/keys')],
    blockedFor: 'nobody',
  })
  const list = 'cd "$1" && find . /dev/shm | LC_ALL=C sort'
  const seen = within(view, list, at('app'))
  assert.equal(seen.status, 0, seen.stderr)
  assert.deepEqual(seen.stdout.trimEnd().split('\n'), [
    '.',
    './data',
    './data/lib',
    './data/lib/cache',
    './data/lib/cache/file',
    './data/lib/file',
    './data/lib/keys',
    './data/lib/keys/mine',
    './data/lib/keys/mine/file',
    './data/own $(id) "x"',
    './data/own $(id) "x"/file',
    './file',
    '/dev/shm',
  ])
  const write = 'cd "$1"; shift; for at; do (: > "$at/new") 2>&- && echo "$at"; done; :'
  const shown = ['.', 'data/own $(id) "x"', 'data/lib', 'data/lib/cache', 'data/lib/keys/mine']
  const written = within(view, write, at('app'), ...shown)
  assert.deepEqual(written.stdout.trimEnd().split('\n'), ['data/own $(id) "x"', 'data/lib/cache'])
})

test('a view that cannot be made as it was planned is not entered', NEEDS, (t) => {
  const root = mkdtempSync(join(tmpdir(), 'view-'))
  t.after(() => rmSync(root, { recursive: true }))
  const [app, data] = [join(root, 'app'), join(root, 'data')]
  for (const folder of [app, data]) mkdirSync(folder)
  const view = planView({ show: [show('read', app)], hide: [data], blockedFor: 'nobody' })
  assert.equal(within(view, 'echo entered').stdout, 'entered\n')
  for (const folder of [data, app]) {
    rmSync(folder, { recursive: true })
    const refused = within(view, 'echo entered')
    assert.deepEqual([refused.status !== 0, refused.stdout], [true, ''])
  }
})
