// No attempt to leave a tenant's cell succeeds, at any level that admits tenants, in the root folder of programs and in that of
// an image. Each attempt is first seen to succeed where nothing holds it, so a probe that can never succeed counts for nothing.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import {
  PROBES,
  privilegedIn,
  provenOutside,
  putOutside,
  succeededOf,
} from '#cells/testing/escape.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { runApart, type RunOptions } from '#cells/testing/run-once.ts'

const PROVEN_MIN = 85
const ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root' }

test('no attempt to leave a cell succeeds, at the levels root and userns', ROOT, async (t) => {
  const outside = await putOutside(t)
  const { words, canary, programs, folder, outlet } = outside
  const proven = await provenOutside(outside)
  assert.ok(proven.length >= PROVEN_MIN, `only ${proven.length} succeed outside`)
  const image = join(folder, 'image')
  makeImageRoot(image, ['/usr/bin/perl'], { 'probes.pl': readFileSync(PROBES, 'utf8') })
  // They keep their modes and capabilities, which a pull of an image does not.
  execFileSync('cp', ['--archive', programs, image])
  const inImage = [...words, ...privilegedIn('/programs')]
  const reads = [dirname(PROBES), programs]
  const cells: Omit<RunOptions, 'level'>[] = [
    { argv: ['/usr/bin/perl', PROBES, ...words], root: { outlet }, reads },
    {
      argv: ['/usr/bin/perl', PROBES, ...words],
      root: { outlet },
      reads,
      inSpare: true,
    },
    { argv: ['perl', '/probes.pl', ...inImage], root: { image, outlet, user: { uid: 0, gid: 0 } } },
  ]
  for (const level of ['root', 'userns'] as const)
    for (const cell of cells) {
      const { lines, exit } = await runApart({ ...cell, level }, canary)
      assert.equal(exit?.code, 0)
      assert.deepEqual(succeededOf(lines.join('\n')), [], level)
    }
})
