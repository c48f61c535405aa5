// A workload in words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restCost, shortImage } from './workload.ts'

test('a workload at rest costs the stored bytes of its images, and of its volumes where there are some', () => {
  const data = { name: 'data', path: '/data', size_bytes: 1e9, used_bytes: 1e6 }
  assert.equal(restCost({ volumes: [] }), 'the stored bytes of its images cost')
  assert.equal(restCost({ volumes: [data] }), 'the stored bytes of its images and volumes cost')
})

test('shortImage() leaves out the registry', () => {
  assert.equal(shortImage('ghcr.io/acme/api:1'), 'api:1')
})
