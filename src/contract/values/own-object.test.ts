import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { ownObject } from './own-object.ts'
import { parseWith } from './parse.ts'

const schema = ownObject({ name: z.string(), image: z.string(), port: z.int().optional() })

test('a misspelt field is told before the one that is missing, with the name that was meant', () => {
  assert.throws(() => parseWith(schema, { name: 'api', imge: 'x' }), {
    message:
      /Could not accept imge: it is not known here: did you mean image\? There are name, image, port$/,
  })
  assert.throws(() => parseWith(schema, { name: 7, image: 'x', something_else: 1 }), {
    message: /accept something_else: it is not known here; there are name, image, port$/,
  })
  assert.throws(() => parseWith(schema, { name: 'api' }), {
    message: /accept image: it is missing$/,
  })
})
