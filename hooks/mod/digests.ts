// Digests by the host's small model: the engine says what to ask and judges the answers; this carries them.
import type { EngineInterface } from 'claude-code'

import { asked } from './bridge.js'

/** The host's small model, by the alias that it resolves itself. */
const MODEL = 'haiku'

/** A digest has ten lines and one of specifics. */
const ANSWER_TOKENS = 1_500

/** How long one answer may take, in milliseconds: the person waits for the apply meanwhile. */
const ANSWER_TIMEOUT_MS = 20_000

/** How often the engine may ask: once, once more for what lacked something, and a last time to hand in. */
const ROUNDS = 3

/** What the model is to be asked about one batch. */
type Request = Readonly<{ batch: string; attempt: number; prompt: string }>

/** What it answered; empty where it did not. */
type Reply = Readonly<{ batch: string; attempt: number; text: string }>

async function replyTo($: EngineInterface, request: Request): Promise<Reply> {
  const { batch, attempt, prompt } = request
  const reply = await $.model.complete({
    model: MODEL,
    prompt,
    maxTokens: ANSWER_TOKENS,
    timeoutMs: ANSWER_TIMEOUT_MS,
  })

  return { batch, attempt, text: reply.isAnswered ? reply.text : '' }
}

/** Has the model write the digests of what is queued; what it does not write well keeps the digest by rule. */
export async function digested($: EngineInterface): Promise<void> {
  let answers: readonly Reply[] = []

  for (let round = 0; round < ROUNDS; round += 1) {
    const asking = await asked($, 'digests', { answers })
    const requests = asking['requests'] as readonly Request[]

    if (requests.length === 0) {
      return
    }
    answers = await Promise.all(requests.map(request => replyTo($, request)))
  }
}
