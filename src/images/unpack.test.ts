import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { digestOf, layerOf, type TestEntry } from './testing.ts'
import { imageTooLarge } from './manifest.ts'
import { unpackLayer, type UnpackRoom } from './unpack.ts'

const home = mkdtempSync(join(tmpdir(), 'ergon-unpack-'))
after(() => rmSync(home, { recursive: true }))
const { signal } = new AbortController()
let count = 0

/** A root folder with a neighbour that nothing may touch. */
function place(): { readonly root: string; readonly secret: string } {
  const folder = join(home, String(count++))
  const root = join(folder, 'root')
  mkdirSync(root, { recursive: true })
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'untouched')
  return { root, secret }
}

const room = (): UnpackRoom => ({
  bytes: 1_000_000,
  entries: 1000,
  layerPathBytes: 1_000_000,
  inodesBytes: 1_000_000_000,
  inodeBytes: 16_384,
  tooLarge: () => imageTooLarge(1_000_000),
})

async function unpack(
  root: string,
  layers: readonly (readonly TestEntry[])[],
  {
    compress = (bytes: Buffer) => bytes,
    ...less
  }: Partial<UnpackRoom> & { readonly compress?: (bytes: Buffer) => Buffer } = {},
): Promise<void> {
  const all = { ...room(), ...less }
  for (const entries of layers) {
    const layer = await layerOf(entries)
    await unpackLayer(
      { open: () => pieces(compress(layer)), diffId: digestOf(layer) },
      root,
      all,
      signal,
    )
  }
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700)
}

const NOW = new Date('2026-01-02T03:04:05Z')

test('layers lie one above the other, with files, programs, folders and links', async () => {
  for (const compress of [(bytes: Buffer) => bytes, gzipSync, zstdCompressSync]) {
    const { root } = place()
    await unpack(
      root,
      [
        [
          { name: 'usr/', type: 'directory', mode: 0o700 },
          { name: './usr/lib/a', text: 'one', mtime: NOW },
          { name: 'lib', type: 'symlink', linkname: 'usr/lib' },
          { name: 'bin/sh', text: '#!', mode: 0o4700 },
          { name: 'bin/bash', type: 'link', linkname: '/bin/sh' },
          { name: 'key', text: 'private', mode: 0o600 },
          { name: 'dev/null', type: 'character-device' },
          { name: 'pipe', type: 'fifo' },
          { name: 'x'.repeat(150) + '/' + 'y'.repeat(150), text: 'long' },
        ],
        [
          { name: 'lib/b', text: 'two' },
          { name: 'usr/lib/a', text: 'three' },
        ],
      ],
      { compress },
    )
    assert.equal(readFileSync(join(root, 'usr/lib/a'), 'utf8'), 'three')
    assert.equal(readFileSync(join(root, 'usr/lib/b'), 'utf8'), 'two')
    assert.equal(readlinkSync(join(root, 'lib')), 'usr/lib')
    assert.equal(readFileSync(join(root, 'bin/bash'), 'utf8'), '#!')
    assert.equal(statSync(join(root, 'bin/sh')).mode & 0o7777, 0o755)
    assert.equal(statSync(join(root, 'key')).mode & 0o7777, 0o644)
    assert.equal(statSync(join(root, 'usr')).mode & 0o7777, 0o755)
    assert.deepEqual(readdirSync(join(root, 'dev')), [])
    assert.ok(!existsSync(join(root, 'pipe')))
  }
})

test('folders that no entry names are open to every user, whatever the process masks', async (t) => {
  const { root } = place()
  const mask = process.umask(0o077)
  t.after(() => process.umask(mask))
  await unpack(root, [[{ name: 'opt/tool/bin/run', mode: 0o755, text: 'x' }]])
  for (const folder of ['opt', 'opt/tool', 'opt/tool/bin'])
    assert.equal(statSync(join(root, folder)).mode & 0o777, 0o755, folder)
})

test('whiteouts remove what layers below have, and nothing of their own layer', async () => {
  const { root } = place()
  await unpack(root, [
    [
      { name: 'a/one', text: '1' },
      { name: 'a/two', text: '2' },
      { name: 'b/one', text: '1' },
      { name: 'b/c/d', text: '1' },
    ],
    [
      { name: 'a/.wh.one' },
      { name: 'b/c/new', text: 'new' },
      { name: 'b/.wh..wh..opq' },
      { name: 'b/two', text: '2' },
    ],
  ])
  assert.deepEqual(readdirSync(join(root, 'a')), ['two'])
  assert.deepEqual(readdirSync(join(root, 'b')).toSorted(), ['c', 'two'])
  assert.ok(existsSync(join(root, 'b/c/new')))
})

test('a file takes the place of a folder, and a folder that of a file', async () => {
  const { root } = place()
  await unpack(root, [
    [
      { name: 'a/b/c', text: '1' },
      { name: 'd', text: 'file' },
    ],
    [
      { name: 'a', text: 'now a file' },
      { name: 'd/e', text: 'in a folder' },
    ],
  ])
  assert.equal(readFileSync(join(root, 'a'), 'utf8'), 'now a file')
  assert.equal(readFileSync(join(root, 'd/e'), 'utf8'), 'in a folder')
})

/** Layers that want out; each is refused, or ends inside the root. */
const HOSTILE: Readonly<Record<string, readonly TestEntry[]>> = {
  'dots in a name': [{ name: '../secret', text: 'taken' }],
  'dots in the middle': [{ name: 'a/../../secret', text: 'taken' }],
  'an absolute name': [{ name: '/../secret', text: 'taken' }],
  'a link, then a file through it': [
    { name: 'out', type: 'symlink', linkname: '..' },
    { name: 'out/secret', text: 'taken' },
  ],
  'an absolute link, then a file through it': [
    { name: 'out', type: 'symlink', linkname: '/../../../..' },
    { name: 'out/secret', text: 'taken' },
  ],
  'a chain of links': [
    { name: 'a', type: 'symlink', linkname: 'b/..' },
    { name: 'b', type: 'symlink', linkname: 'c/../..' },
    { name: 'c', type: 'symlink', linkname: '../..' },
    { name: 'a/secret', text: 'taken' },
  ],
  'a file that is a link': [
    { name: 'file', type: 'symlink', linkname: '../secret' },
    { name: 'file', text: 'taken' },
  ],
  'a second name of a file outside': [{ name: 'file', type: 'link', linkname: '../secret' }],
  'a second name through a link': [
    { name: 'out', type: 'symlink', linkname: '..' },
    { name: 'file', type: 'link', linkname: 'out/secret' },
  ],
  'a whiteout of the parent': [{ name: '.wh...' }],
  'a whiteout through a link': [
    { name: 'out', type: 'symlink', linkname: '..' },
    { name: 'out/.wh.secret' },
  ],
  'an opaque folder through a link': [
    { name: 'out', type: 'symlink', linkname: '..' },
    { name: 'out/.wh..wh..opq' },
  ],
  'links in circles': [
    { name: 'a', type: 'symlink', linkname: 'b' },
    { name: 'b', type: 'symlink', linkname: 'a' },
    { name: 'a/secret', text: 'taken' },
  ],
  'an overlong name': [{ name: `${'a/'.repeat(3000)}x`, text: 'taken' }],
  'an overlong part': [{ name: 'a'.repeat(300), text: 'taken' }],
}

for (const [name, entries] of Object.entries(HOSTILE))
  test(`a hostile layer changes nothing outside: ${name}`, async () => {
    const { root, secret } = place()
    await unpack(root, [entries]).catch((error: { code?: string }) =>
      assert.equal(error.code, 'image_hostile', String(error)),
    )
    assert.equal(readFileSync(secret, 'utf8'), 'untouched')
    assert.equal(lstatSync(secret).nlink, 1)
    assert.deepEqual(readdirSync(join(root, '..')).toSorted(), ['root', 'secret'])
  })

/** Entries that the system cannot make. */
const IMPOSSIBLE: Readonly<Record<string, TestEntry>> = {
  'a link without a target': { name: 'a', type: 'symlink', linkname: '' },
  'a target of 5,000 characters': { name: 'a', type: 'symlink', linkname: 'x/'.repeat(2500) },
  'a target with a zero': { name: 'tar', type: 'symlink', pax: { linkpath: 'a\0b' } },
  'a path of 200 parts': { name: `${'a/'.repeat(200)}x`, text: '1' },
}

for (const [name, entry] of Object.entries(IMPOSSIBLE))
  test(`an entry that cannot be made is a fault of the image: ${name}`, async () => {
    const { root } = place()
    await assert.rejects(unpack(root, [[entry]]), { code: 'image_hostile' })
  })

/** A layer of one file, whose header gets this type: the packer knows types of POSIX alone. */
async function layerOfType(type: string): Promise<Buffer> {
  const layer = await layerOf([{ name: 'disk.img', text: 'data' }])
  layer.write(type, 156, 'latin1')
  layer.fill(' ', 148, 156)
  const sum = layer.subarray(0, 512).reduce((all, byte) => all + byte, 0)
  layer.write(`${sum.toString(8).padStart(6, '0')}\0`, 148, 'latin1')
  return layer
}

const paxLayer = (name: string, pax: Record<string, string>) =>
  layerOf([{ name, text: 'data', pax }])

/** Files whose archive has only the parts that are no holes, or that no reader knows. */
const NO_WHOLE_FILES: Readonly<Record<string, () => Promise<Buffer>>> = {
  'a sparse file of GNU': () => layerOfType('S'),
  'a sparse file of pax 0.0': () => paxLayer('disk.img', { 'GNU.sparse.size': '9000' }),
  'a sparse file of pax 0.1': () => paxLayer('disk.img', { 'GNU.sparse.map': '0,4' }),
  'a sparse file of pax 1.0': () =>
    paxLayer('GNUSparseFile.7/s', { 'GNU.sparse.major': '1', 'GNU.sparse.name': 'disk.img' }),
  'a part of a file': () => layerOfType('M'),
}

for (const [name, made] of Object.entries(NO_WHOLE_FILES))
  test(`an entry without the bytes of a whole file is refused by its name: ${name}`, async () => {
    const { root } = place()
    const layer = await made()
    await assert.rejects(
      unpackLayer({ open: () => pieces(layer), diffId: digestOf(layer) }, root, room(), signal),
      { code: 'image_unsupported', message: /"disk\.img"/ },
    )
    assert.deepEqual(readdirSync(root), [])
  })

test('the paths of a layer have their bytes together, and each layer has all of them', async () => {
  const layers = [
    [
      { name: 'a/b/c', text: '1' },
      { name: 'a/ö', text: '2' },
    ],
    [{ name: 'a/b/c', text: '3' }, { name: 'a/.wh.ö' }],
  ]
  // The first layer keeps /a, /a/b, /a/b/c and /a/ö.
  await unpack(place().root, layers, { layerPathBytes: 2 + 4 + 6 + 5 })
  await assert.rejects(unpack(place().root, layers, { layerPathBytes: 2 + 4 + 6 + 4 }), {
    code: 'image_hostile',
    message: /paths/,
  })
})

test('folders that no entry names count as entries and as bytes of the disk', async () => {
  const deep = (nth: number) => ({ name: `${nth}/${'a/'.repeat(100)}x`, text: '' })
  const layer = await layerOf([deep(1), deep(2)])
  const unpackIn = (less: Partial<UnpackRoom>) =>
    unpackLayer(
      { open: () => pieces(layer), diffId: digestOf(layer) },
      place().root,
      { ...room(), ...less },
      signal,
    )
  // Two entries, and 101 folders of each.
  await unpackIn({ entries: 204 })
  await assert.rejects(unpackIn({ entries: 203 }), { code: 'image_hostile' })
  await assert.rejects(unpackIn({ bytes: 202 * 4096 }), { code: 'image_too_large' })
})

test('unpackLayer() counts an inode for each file, folder and symbolic link, and none for a second name', async () => {
  const layer = await layerOf([
    { name: 'a/b/file', text: '1' },
    { name: 'a/', type: 'directory' },
    { name: 'a/second', type: 'link', linkname: 'a/b/file' },
    { name: 'a/link', type: 'symlink', linkname: 'b' },
    { name: 'a/folder/', type: 'directory' },
    { name: 'a/.wh.gone' },
    { name: 'a/pipe', type: 'fifo' },
  ])
  const unpackIn = (inodes: number) =>
    unpackLayer(
      { open: () => pieces(layer), diffId: digestOf(layer) },
      place().root,
      { ...room(), inodesBytes: inodes * 16_384 },
      signal,
    )
  // Two folders that no entry names, the file, the link and the folder.
  await unpackIn(5)
  await assert.rejects(unpackIn(4), { code: 'image_too_large' })
})

test('the harness sees a file that was taken', async () => {
  const { root, secret } = place()
  // As an unpacker without care does it.
  writeFileSync(join(root, '../secret'), 'taken')
  assert.notEqual(readFileSync(secret, 'utf8'), 'untouched')
})

test('a bomb of bytes or entries ends at its limit', async () => {
  const { root } = place()
  const zeros = await layerOf([{ name: 'zeros', text: '\0'.repeat(3_000_000) }])
  await assert.rejects(
    unpackLayer(
      { open: () => pieces(gzipSync(zeros)), diffId: digestOf(zeros) },
      root,
      room(),
      signal,
    ),
    { code: 'image_too_large' },
  )
  const many = Array.from({ length: 1001 }, (_, nth) => ({
    name: `f${nth}`,
    type: 'directory' as const,
  }))
  await assert.rejects(unpack(root, [many]), { code: 'image_hostile' })
})

test('other bytes than the named ones, and bytes that are no archive, are refused', async () => {
  const { root } = place()
  const layer = await layerOf([{ name: 'a', text: '1' }])
  const other = digestOf(Buffer.from('other'))
  await assert.rejects(
    unpackLayer({ open: () => pieces(layer), diffId: other }, root, room(), signal),
    {
      code: 'image_damaged',
    },
  )
  for (const bytes of [
    Buffer.alloc(2048, 'x'),
    gzipSync(layer).subarray(0, 60),
    layer.subarray(0, 700),
  ])
    await assert.rejects(
      unpackLayer({ open: () => pieces(bytes), diffId: digestOf(bytes) }, root, room(), signal),
      { code: 'image_damaged' },
    )
})
