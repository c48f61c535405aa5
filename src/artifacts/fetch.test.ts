import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'

import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'

import { CATALOGUE } from './catalogue.ts'
import { type ArtifactsOptions, createArtifacts } from './fetch.ts'
import { makeArtifact } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'ergon-artifacts-'))
after(() => rmSync(root, { recursive: true, force: true }))

const log = createLogger('test', { level: 'error' })
const { signal } = new AbortController()
const payload = randomBytes(300_000)
const index = join(root, 'index')
const artifact = makeArtifact(index, 'ergon_test_payload', payload)
const { name } = artifact
const [wheel] = artifact.wheels
assert.ok(wheel)

// pip's index is the folder: no test leaves this machine.
const environment = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: root,
  PIP_NO_INDEX: '1',
  PIP_FIND_LINKS: index,
}
const noPip = spawnSync('python3', ['-c', 'import pip']).status === 0 ? false : 'there is no pip'

let folders = 0
const freshFolder = () => join(root, `data-${++folders}`)
const make = (more: Partial<ArtifactsOptions> = {}) => {
  const folder = more.folder ?? freshFolder()
  return {
    folder,
    ...createArtifacts({ folder, catalogue: [artifact], environment, log, ...more }),
  }
}
/** A stand-in for Python: a shell script. */
const script = (body: string) => {
  const path = join(mkdtempSync(join(root, 'script-')), 'python')
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
  return path
}
const payloadOf = (files: { path(entry: string): string }) =>
  readFileSync(files.path(`${name}/payload.bin`))

test('the catalogue names every file by size and hash, within its folder and once', () => {
  for (const { name: of, wheels } of CATALOGUE)
    for (const { sha256, sizeBytes, entries } of wheels) {
      const paths = entries.map((entry) => entry.path)
      assert.equal(new Set(paths).size, paths.length, of)
      for (const each of [{ path: of, sha256, sizeBytes }, ...entries]) {
        assert.match(each.sha256, /^[0-9a-f]{64}$/, each.path)
        assert.ok(Number.isSafeInteger(each.sizeBytes) && each.sizeBytes > 0, each.path)
        assert.doesNotMatch(each.path, /^\/|(^|\/)\.\.(\/|$)/)
      }
    }
})

// A download by pip takes a second of CPU: one serves both.
test(
  'ensure() of two at once fetches through pip once, then answers from the disk',
  { skip: noPip },
  async () => {
    const phases = new Set<string>()
    const count = join(root, 'count')
    const python = script(`echo x >> ${count}; exec python3 "$@"`)
    const first = make({ python, progress: ({ phase }) => phases.add(phase) })
    const second = make({
      python,
      folder: first.folder,
      progress: ({ phase }) => phases.add(phase),
    })
    assert.deepEqual(
      (await first.list()).map((each) => each.present),
      [false],
    )
    const got = await Promise.all([first, second].map((each) => each.ensure(name, signal)))
    for (const files of got) assert.ok(payloadOf(files).equals(payload))
    assert.equal(got[0]?.folder, got[1]?.folder)
    assert.equal(readFileSync(count, 'utf8'), 'x\n')
    assert.ok(phases.has('unpack'))
    const again = make({ folder: first.folder, python: '/nonexistent' })
    assert.ok(payloadOf(await again.ensure(name, signal)).equals(payload))
    assert.deepEqual(
      (await again.list()).map((each) => each.present),
      [true],
    )
    const left = readdirSync(first.folder).filter((each) => each.includes('~'))
    assert.deepEqual(left, [])
  },
)

test(
  'ensure() says in one line what is wrong, and a later call mends it',
  { skip: noPip },
  async (t) => {
    const cases: [string, Partial<ArtifactsOptions>, string, RegExp][] = [
      [
        'no Python',
        { python: 'no-such-python' },
        'artifact_tool_missing',
        /install no-such-python/,
      ],
      [
        'no pip',
        { python: script('echo "$0: No module named pip" >&2; exit 1') },
        'artifact_tool_missing',
        /install pip for/,
      ],
      [
        'no network',
        {
          environment: {
            ...environment,
            PIP_NO_INDEX: '0',
            PIP_FIND_LINKS: join(root, 'nothing'),
            PIP_INDEX_URL: 'https://u:secret@127.0.0.1:9/',
          },
        },
        'artifact_unreachable',
        /Could not reach the package index for ergon_test_payload==1\.0\.0: connection refused/i,
      ],
      [
        'other bytes under the same name',
        { catalogue: [{ ...artifact, wheels: [{ ...wheel, sha256: '0'.repeat(64) }] }] },
        'artifact_mismatch',
        /other bytes than the known ones: ergon_test_payload==1\.0\.0/,
      ],
      [
        'pip fails',
        { python: script('echo "ERROR: odd" >&2; exit 2') },
        'artifact_unreachable',
        /odd/,
      ],
    ]
    for (const [what, options, code, message] of cases)
      await t.test(what, async () => {
        const { folder, ensure } = make(options)
        await assert.rejects(ensure(name, signal), (error: Error & { code?: string }) => {
          assert.equal(error.code, code, error.message)
          assert.match(error.message, message)
          assert.doesNotMatch(error.message, /secret|\n/)
          return true
        })
        const mended = make({ folder, offlineFolder: index })
        assert.ok(payloadOf(await mended.ensure(name, signal)).equals(payload))
      })
  },
)

test('ensure() of an unknown name lists the known ones', async () => {
  await assert.rejects(make().ensure('gpt', signal), {
    code: 'artifact_unknown',
    message: 'No such artifact, there are ergon_test_payload: gpt',
  })
})

test('ensure() takes wheels from an offline folder without Python, and demands their bytes', async () => {
  const offline = { offlineFolder: index, python: '/nonexistent' }
  assert.ok(payloadOf(await make(offline).ensure(name, signal)).equals(payload))
  const cut = join(root, 'cut')
  makeArtifact(cut, name, payload)
  truncateSync(join(cut, wheel.file), wheel.sizeBytes - 5)
  await assert.rejects(make({ offlineFolder: cut }).ensure(name, signal), {
    code: 'artifact_mismatch',
  })
  await assert.rejects(make({ offlineFolder: root }).ensure(name, signal), {
    code: 'artifact_unreachable',
    message: new RegExp(`no such file: .*${wheel.file}`),
  })
})

test('ensure() ends its download when it is aborted', { skip: noPip }, async () => {
  const started = join(root, 'started')
  const python = script(`touch ${started}; exec sleep 60`)
  const { folder, ensure } = make({ python })
  const abort = new AbortController()
  const fetching = ensure(name, abort.signal)
  while (!existsSync(started)) await sleep(10)
  abort.abort()
  await assert.rejects(fetching, { code: 'artifact_interrupted' })
  const mended = make({ folder, offlineFolder: index })
  assert.ok(payloadOf(await mended.ensure(name, signal)).equals(payload))
})

test('ensure() of a new process clears up after one that was killed', async () => {
  const folder = freshFolder()
  const python = script('echo half > "$TMPDIR/half.whl"; exec sleep 5')
  const program = `
    const { createArtifacts } = await import(${JSON.stringify(import.meta.resolve('./fetch.ts'))})
    const { createLogger } = await import(${JSON.stringify(import.meta.resolve('#base/log.ts'))})
    const [artifact, folder, python] = JSON.parse(process.argv[1])
    const log = createLogger('test', { level: 'error' })
    await createArtifacts({ folder, python, catalogue: [artifact], log })
      .ensure(artifact.name, AbortSignal.timeout(60_000))`
  const args = ['--input-type=module', '-e', program, JSON.stringify([artifact, folder, python])]
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const halves = () =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true }).filter((each) => String(each).endsWith('half.whl'))
      : []
  while (halves().length === 0) await sleep(10)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  const next = make({ folder, offlineFolder: index })
  assert.ok(payloadOf(await next.ensure(name, signal)).equals(payload))
  assert.deepEqual(halves(), [])
})

test('verify() removes an artifact with a changed byte, and ensure() brings it back', async () => {
  const { ensure, verify } = make({ offlineFolder: index })
  assert.deepEqual(await verify(signal), [{ name, state: 'absent' }])
  const files = await ensure(name, signal)
  assert.deepEqual(await verify(signal), [{ name, state: 'good' }])
  const changed = Buffer.from(payload)
  changed[1234] = (changed[1234] ?? 0) ^ 1
  writeFileSync(files.path(`${name}/payload.bin`), changed)
  assert.deepEqual(await verify(signal, name), [{ name, state: 'removed' }])
  assert.ok(payloadOf(await ensure(name, signal)).equals(payload))
})

test('prune() removes other versions and leftovers, and nothing else', async () => {
  const { folder, ensure, prune } = make({ offlineFolder: index })
  assert.deepEqual(await prune(signal), [])
  await ensure(name, signal)
  for (const each of [`${name}-0.9.0`, `.${name}~old`, 'pulled']) mkdirSync(join(folder, each))
  assert.deepEqual((await prune(signal)).toSorted(), [`.${name}~old`, `${name}-0.9.0`])
  assert.deepEqual(readdirSync(folder).toSorted(), [`.${name}.lock`, `${name}-1.0.0`, 'pulled'])
})

test(
  'ensure() says when the disk is full, before and during a download',
  { skip: noPip },
  async (t) => {
    const small = join(root, 'small')
    mkdirSync(small)
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', small])
    if (mount.status !== 0) return t.skip('a small tmpfs cannot be mounted here')
    t.after(() => spawnSync('umount', [small]))
    const large = makeArtifact(index, 'ergon_test_large', randomBytes(7_000_000))
    const [largeWheel] = large.wheels
    assert.ok(largeWheel)
    const before = make({ folder: join(small, 'a'), catalogue: [large] })
    await assert.rejects(before.ensure(large.name, signal), {
      code: 'storage_full',
      message: /ergon_test_large: 26 MB are needed, \d MB are free/,
    })
    // A catalogue that understates the size, so that the check beforehand lets it pass.
    const understated = {
      ...large,
      wheels: [{ ...largeWheel, sizeBytes: 1, entries: [] }],
    }
    const during = make({ folder: join(small, 'b'), catalogue: [understated] })
    await assert.rejects(during.ensure(large.name, signal), { code: 'storage_full' })
  },
)
