// The verifier finds Buffer in the global scope. Imported before it.
import { Bytes } from './bytes.ts'

Object.assign(globalThis, { Buffer: Bytes })
