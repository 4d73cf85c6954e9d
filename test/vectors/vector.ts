/** One vector of a file: what its other fields are depends on its kind. */
export interface Vector {
  readonly id: string;
  readonly kind: string;
}

/** What a vector expects and what the product gave, in the same form: equal means passed. */
export interface Outcome {
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Runs the product over a vector of one kind. A throw is a failure. */
export type Handler = (vector: Vector) => Outcome;

/** The fields of a vector of one kind. Vector files are part of the project, so their form is taken as given. */
export function fieldsOf<Fields>(vector: Vector): Fields {
  return vector as unknown as Fields;
}
