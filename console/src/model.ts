/** What the server answers, by the names that the pages use: from its own document of the API. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Line = Schemas["Line"];
export type Recordings = Schemas["Recordings"];
export type Facets = Schemas["Facets"];
export type FacetValue = Schemas["FacetValue"];
export type Bucket = Schemas["Bucket"];
export type Trends = Schemas["Trends"];
export type Whole = Schemas["Whole"];
export type Row = Schemas["Row"];
export type Rows = Schemas["Rows"];
export type Message = Schemas["Message"];
export type ModelCall = Schemas["ModelCall"];
export type StepWhole = Schemas["StepShape"];
export type Messages = Schemas["Messages"];
export type Item = Schemas["Item"];
export type Conversation = Schemas["Conversation"];
export type Lanes = Schemas["Lanes"];
export type Finding = Schemas["Finding"];
export type Findings = Schemas["Findings"];
export type Difference = Schemas["Difference"];
export type Side = Schemas["Side"];
export type Pair = Schemas["Pair"];
export type PairStep = Schemas["PairStep"];
export type Diff = Schemas["Diff"];
export type Job = Schemas["Job"];
export type Me = Schemas["Me"];
export type Call = Schemas["Call"];
