// What one turn of the event loop brings of an answer, kept until the stage of the turn that reads answers.

import type { Ending } from '../../lib/handover.ts';
import { turn } from '../../lib/turn.ts';

export interface ArrivalReader {
  onChunk(chunk: Buffer): void;
  /** Called behind the last chunk. */
  onEnding(ending: Ending): void;
}

export class ArrivedBytes {
  readonly #reader: ArrivalReader;
  readonly #mostBytes: number;
  readonly #readInTurn = (): void => {
    this.#isDue = false;
    this.#read();
  };
  #chunks: Buffer[] = [];
  #bytes = 0;
  #ending: Ending | undefined;
  #isDue = false;

  /** @param mostBytes a fast upstream sends more than may be kept in one turn: it is read at once then */
  constructor(reader: ArrivalReader, mostBytes: number) {
    this.#reader = reader;
    this.#mostBytes = mostBytes;
  }

  add(chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= this.#mostBytes) this.#read();
    else this.#readInStage();
  }

  /** The first counts: what a proxy makes of its refusal is followed by the end of the refusal itself. */
  end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#readInStage();
  }

  #readInStage(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    turn.answers(this.#readInTurn);
  }

  #read(): void {
    const chunks = this.#chunks;
    const [first] = chunks;
    if (first !== undefined) {
      const all = chunks.length === 1 ? first : Buffer.concat(chunks, this.#bytes);
      this.#chunks = [];
      this.#bytes = 0;
      this.#reader.onChunk(all);
    }
    if (this.#ending !== undefined) this.#reader.onEnding(this.#ending);
  }
}
