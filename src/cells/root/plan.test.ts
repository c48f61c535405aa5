import assert from 'node:assert/strict'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CellRoot } from '#cells/cell.ts'
import { assertEnterable, planRoot, resolveIn } from './plan.ts'

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
  assert.throws(() => resolveIn(image, '/var/loop/x'), {
    code: 'image_unsupported',
    message: /lead in circles/,
  })
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

test('an image with too many entries around its mounts is its own fault, and is not read to its end', (t) => {
  const image = makeImage(t, {})
  mkdirSync(join(image, 'etc'))
  // The root has bin, etc, srv and var.
  for (let nth = 0; nth < 1996; nth++)
    linkSync(join(image, 'srv/www/index.html'), join(image, 'etc', `file-${nth}`))
  assertEnterable(image, '/')
  writeFileSync(join(image, 'etc/one-more'), '')
  const code = 'image_unsupported'
  const message =
    'Could not use the image: its folder /etc has more than 1996 entries, and the folders around mounts may have 2000 together'
  assert.throws(() => assertEnterable(image, '/'), { code, message })
  renameSync(join(image, 'etc'), join(image, 'srv/many'))
  assertEnterable(image, '/srv/many')
  const volumes = [{ path: '/srv/many/data', image: '/volume.img' }]
  assert.throws(() => planOf({ image, volumes }), {
    code,
    message: /its folder \/srv\/many has more than 1995 entries/,
  })
})

test('a path of an image that no process can walk is a fault of the image', (t) => {
  const long = Array.from({ length: 11 }, () => 'x'.repeat(200)).join('/')
  const image = makeImage(t, {
    'var/ahead': `${'b/../'.repeat(600)}bin`,
    'var/deep': long,
    'srv/deeper': `/var/deep/${long}`,
  })
  assert.equal(resolveIn(image, '/var/deep'), `var/${long}`)
  const code = 'image_unsupported'
  const endless = ['/var/ahead', '/srv/deeper', `/${'a/'.repeat(3000)}`, '/a'.repeat(1001)]
  for (const path of [...endless, `/${'n'.repeat(256)}`])
    assert.throws(() => resolveIn(image, path), { code, message: /a path is too long/ }, path)
})

test('a working folder is not below /proc, also where an image has such a folder', (t) => {
  const image = makeImage(t, { here: '/proc/self/fd/5' })
  for (const folder of ['proc/self/fd/5', 'dev/fd/5', 'run/app'])
    mkdirSync(join(image, folder), { recursive: true })
  for (const folder of ['/proc/self/fd/5', '/proc', '/here', '/dev/fd/5'])
    assert.throws(() => assertEnterable(image, folder), {
      code: 'image_unsupported',
      message: /its working folder cannot be "\/(proc|dev\/fd)/,
    })
  for (const folder of ['/run/app', '/tmp', '/dev/shm', '/srv/www', '/new'])
    assertEnterable(image, folder)
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
