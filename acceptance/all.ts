// Every acceptance test, for the instance that openInstance() names.
import './ai-sdk.ts'
import './databases.ts'
import './langchain.ts'
import './one-number.ts'
import './openai.ts'
import './s3.ts'
import './tools.ts'
