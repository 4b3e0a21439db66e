// The host's rows on the way to the engine and back: carried, never judged.
import type { SessionMessage } from 'claude-code'

import type { Answer } from './bridge.js'

/** How many characters of a row's beginning and end travel: enough to see that two sides mean the same row. */
const GLIMPSE_CHARS = 64

/** One row as the engine reads it: what it takes to find the same row in the host's file. */
type Glimpse = Readonly<{
  handle: string
  role: string
  length: number
  head: string
  calls: readonly string[]
  results: readonly string[]
}>

/** A row that the engine built. */
type Built = Readonly<{
  role: 'user' | 'assistant'
  text: string
  calls: readonly Readonly<{ id: string; name: string; input: Record<string, unknown> }>[]
  results: readonly Readonly<{ id: string; text: string; error: boolean }>[]
}>

/** A run of the host's own rows to keep: the first, and one past the last. */
type Kept = readonly [number, number]

/** Every row, small: the engine reads the rest in the host's file. */
export const glimpses = (messages: readonly SessionMessage[]): Glimpse[] =>
  messages.map(message => ({
    handle: message.handle ?? '',
    role: message.role,
    length: message.text.length,
    head: message.text.slice(0, GLIMPSE_CHARS),
    calls: message.toolUses.map(use => use.tool_use_id),
    results: (message.toolResults ?? []).map(result => result.tool_use_id),
  }))

const isKept = (row: Kept | Built): row is Kept => Array.isArray(row)

const built = (row: Built): SessionMessage => ({
  role: row.role,
  text: row.text,
  toolUses: row.calls.map(call => ({ tool_use_id: call.id, tool: call.name, input: call.input })),
  toolResults: row.results.map(result => ({
    tool_use_id: result.id,
    text: result.text,
    isError: result.error,
  })),
})

/** The conversation that the engine planned, out of the host's rows and the ones that it built. */
export const conversationOf = (answer: Answer, messages: readonly SessionMessage[]): SessionMessage[] =>
  (answer['rows'] as readonly (Kept | Built)[]).flatMap(row =>
    isKept(row) ? messages.slice(row[0], row[1]) : [built(row)],
  )
