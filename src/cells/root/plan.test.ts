import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CellRoot } from '#cells/cell.ts'
import { planRoot, resolveIn } from './plan.ts'

function makeImage(t: TestContext, links: Readonly<Record<string, string>>): string {
  const image = mkdtempSync(join(tmpdir(), 'image-'))
  t.after(() => rmSync(image, { recursive: true }))
  for (const folder of ['bin', 'var/lib/app', 'srv/www'])
    mkdirSync(join(image, folder), { recursive: true })
  writeFileSync(join(image, 'srv/www/index.html'), 'hello')
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(image, path))
  return image
}

const planOf = (root: CellRoot, reads: readonly string[] = []): readonly string[] =>
  planRoot({ root, stage: '/stage', hostname: 'web', owner: { uid: 7, gid: 7 }, reads })

/** The words of a step follow its name. */
const has = (plan: readonly string[], ...step: readonly string[]): boolean =>
  plan.some((_, at) => step.every((word, nth) => plan[at + nth] === word))

test('a folder in memory splits the folders around it, and the rest of them is bound', (t) => {
  const image = makeImage(t, {})
  const plan = planOf({ image, memory: [{ path: '/var/lib/app/data', bytes: 1000 }] })
  assert.ok(has(plan, 'bind', 'srv', join(image, 'srv')))
  assert.ok(has(plan, 'folder', 'var', 'folder', 'var/lib', 'folder', 'var/lib/app'))
  assert.ok(has(plan, 'memory', 'var/lib/app/data', 'mode=0755,size=1000,uid=7,gid=7'))
  assert.ok(!has(plan, 'bind', 'var'))
})

test('links of an image lead nowhere but into it', (t) => {
  const image = makeImage(t, {
    proc: '/etc',
    etc: tmpdir(),
    dev: '../../..',
    'var/run': '/run',
    'var/up': '../../../../srv',
    'var/loop': 'loop',
  })
  assert.equal(resolveIn(image, '/var/up/www'), 'srv/www')
  assert.throws(() => resolveIn(image, '/var/loop/x'), /lead in circles/)
  const plan = planOf({
    image,
    memory: [
      { path: '/var/run/x', bytes: 1 },
      { path: '/var/up', bytes: 2 },
    ],
  })
  assert.ok(
    has(plan, 'memory', 'run/x') && has(plan, 'memory', 'srv', 'mode=0755,size=2,uid=7,gid=7'),
  )
  // Folders of ours take the place of the links: no step goes through one.
  assert.ok(
    has(plan, 'folder', 'etc', 'file', 'etc/hosts') && has(plan, 'folder', 'proc', 'processes'),
  )
  for (const name of ['etc', 'proc', 'dev']) assert.ok(!has(plan, 'link', name))
})

test('without an image there are the folders of programs, and what the cell reads', () => {
  const plan = planOf({ workingFolder: '/tmp/work' }, ['/srv/runtime'])
  assert.ok(has(plan, 'bind', 'usr', '/usr'))
  assert.ok(has(plan, 'folder', 'srv', 'bind', 'srv/runtime', '/srv/runtime'))
  assert.ok(has(plan, 'folder', 'tmp/work'))
  for (const name of ['home', 'root', 'var', 'boot', 'etc', 'opt'])
    assert.ok(!has(plan, 'bind', name), name)
  assert.ok(!has(plan, 'bind', 'etc/passwd'))
})
