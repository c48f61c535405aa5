import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageText, parseImageReference } from './reference.ts'

const DIGEST = `sha256:${'a1'.repeat(32)}`
const REGISTRY = { kind: 'registry', digest: undefined }

test('names of images are read as Docker reads them', () => {
  const names: Record<string, object> = {
    nginx: { registry: 'docker.io', repository: 'library/nginx', tag: 'latest' },
    'nginx:1.27': { registry: 'docker.io', repository: 'library/nginx', tag: '1.27' },
    'acme/api:v2': { registry: 'docker.io', repository: 'acme/api', tag: 'v2' },
    'ghcr.io/acme/team/api': { registry: 'ghcr.io', repository: 'acme/team/api', tag: 'latest' },
    'localhost/x': { registry: 'localhost', repository: 'x', tag: 'latest' },
    'registry:5000/x:y': { registry: 'registry:5000', repository: 'x', tag: 'y' },
    '127.0.0.1:5000/x': { registry: '127.0.0.1:5000', repository: 'x', tag: 'latest' },
    [`ghcr.io/x/y:v1@${DIGEST}`]: {
      registry: 'ghcr.io',
      repository: 'x/y',
      tag: 'v1',
      digest: DIGEST,
    },
  }
  for (const [name, expected] of Object.entries(names)) {
    assert.deepEqual(parseImageReference(name), { ...REGISTRY, ...expected }, name)
    const text = imageText(parseImageReference(name))
    assert.deepEqual(parseImageReference(text), parseImageReference(name), text)
  }
})

test('layouts and archives are read', () => {
  assert.deepEqual(parseImageReference('oci:/a/b c:v1'), { kind: 'oci', path: '/a/b c', tag: 'v1' })
  assert.deepEqual(parseImageReference('docker-archive:./x.tar'), {
    kind: 'docker-archive',
    path: './x.tar',
    tag: undefined,
  })
})

test('a text that is no name of an image is refused', () => {
  const bad = [
    '',
    ' ',
    'Nginx',
    'nginx:',
    'nginx:a b',
    'a//b',
    '../x',
    'x/../y',
    'nginx@sha256:12',
    `x@${DIGEST}@${DIGEST}`,
    'http://ghcr.io/x',
    'x;rm -rf',
    'x$(id)',
    'a'.repeat(2000),
    'x\0y',
    'oci:',
    `oci:/a/b:v1@${DIGEST}`,
    'docker-archive:/a/b@sha256:12',
    '-x',
    'x_',
    '.x/y',
  ]
  for (const name of bad)
    assert.throws(() => parseImageReference(name), { code: 'image_reference_invalid' }, name)
})
