// The bill equals the meter where the meter is a plug, whose power does not grow in proportion to the load.
import { testConservation } from './conservation.ts'
import { CHAT, METERED } from '../settings.ts'
import { product } from '../product.ts'

product(METERED)

testConservation(CHAT, [{ concurrent: 16, maxTokens: 8, forMs: 1500 }], false)
