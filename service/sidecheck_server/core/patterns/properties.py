r"""Unicode properties: what `\p{..}` and `\P{..}` name.

The names are exactly those of ECMA-262 section 22.2.2.9 (UnicodeMatchProperty): unlike
Unicode itself, ECMA-262 does not match names loosely. The values are those of the
Unicode Character Database (PropertyValueAliases, version 17).

The data is our own copy, of one version of Unicode. So a property means the same
set in every engine, alone, inside a class and negated, on every release of Python.
"""

import base64
import zlib
from functools import cache
from itertools import accumulate

from sidecheck_server.core.patterns.codepoints import Ranges
from sidecheck_server.core.patterns.property_data import PACKED

__all__ = ["BINARY_PROPERTIES", "GENERAL_CATEGORIES", "SCRIPTS", "find_property"]


def index_names(table: str) -> dict[str, str]:
    """Return a mapping of every name in *table* to the first name of its entry."""
    entries = [entry.split() for entry in table.split(",")]
    return {name: names[0] for names in entries for name in names}


GENERAL_CATEGORIES = index_names("""
L Letter, LC Cased_Letter, Lu Uppercase_Letter, Ll Lowercase_Letter, Lt Titlecase_Letter,
Lm Modifier_Letter, Lo Other_Letter, M Mark Combining_Mark, Mn Nonspacing_Mark, Mc Spacing_Mark,
Me Enclosing_Mark, N Number, Nd Decimal_Number digit, Nl Letter_Number, No Other_Number,
P Punctuation punct, Pc Connector_Punctuation, Pd Dash_Punctuation, Ps Open_Punctuation,
Pe Close_Punctuation, Pi Initial_Punctuation, Pf Final_Punctuation, Po Other_Punctuation,
S Symbol, Sm Math_Symbol, Sc Currency_Symbol, Sk Modifier_Symbol, So Other_Symbol, Z Separator,
Zs Space_Separator, Zl Line_Separator, Zp Paragraph_Separator, C Other, Cc Control cntrl,
Cf Format, Cs Surrogate, Co Private_Use, Cn Unassigned
""")

BINARY_PROPERTIES = index_names("""
ASCII, ASCII_Hex_Digit AHex, Alphabetic Alpha, Any, Assigned, Bidi_Control Bidi_C,
Bidi_Mirrored Bidi_M, Case_Ignorable CI, Cased, Changes_When_Casefolded CWCF,
Changes_When_Casemapped CWCM, Changes_When_Lowercased CWL, Changes_When_NFKC_Casefolded CWKCF,
Changes_When_Titlecased CWT, Changes_When_Uppercased CWU, Dash, Default_Ignorable_Code_Point DI,
Deprecated Dep, Diacritic Dia, Emoji, Emoji_Component EComp, Emoji_Modifier EMod,
Emoji_Modifier_Base EBase, Emoji_Presentation EPres, Extended_Pictographic ExtPict, Extender Ext,
Grapheme_Base Gr_Base, Grapheme_Extend Gr_Ext, Hex_Digit Hex, IDS_Binary_Operator IDSB,
IDS_Trinary_Operator IDST, ID_Continue IDC, ID_Start IDS, Ideographic Ideo, Join_Control Join_C,
Logical_Order_Exception LOE, Lowercase Lower, Math, Noncharacter_Code_Point NChar,
Pattern_Syntax Pat_Syn, Pattern_White_Space Pat_WS, Quotation_Mark QMark, Radical,
Regional_Indicator RI, Sentence_Terminal STerm, Soft_Dotted SD, Terminal_Punctuation Term,
Unified_Ideograph UIdeo, Uppercase Upper, Variation_Selector VS, White_Space space,
XID_Continue XIDC, XID_Start XIDS
""")

SCRIPTS = index_names("""
Adlam Adlm, Ahom, Anatolian_Hieroglyphs Hluw, Arabic Arab, Armenian Armn, Avestan Avst,
Balinese Bali, Bamum Bamu, Bassa_Vah Bass, Batak Batk, Bengali Beng, Beria_Erfe Berf,
Bhaiksuki Bhks, Bopomofo Bopo, Brahmi Brah, Braille Brai, Buginese Bugi, Buhid Buhd,
Canadian_Aboriginal Cans, Carian Cari, Caucasian_Albanian Aghb, Chakma Cakm, Cham, Cherokee Cher,
Chorasmian Chrs, Common Zyyy, Coptic Copt Qaac, Cuneiform Xsux, Cypriot Cprt, Cypro_Minoan Cpmn,
Cyrillic Cyrl, Deseret Dsrt, Devanagari Deva, Dives_Akuru Diak, Dogra Dogr, Duployan Dupl,
Egyptian_Hieroglyphs Egyp, Elbasan Elba, Elymaic Elym, Ethiopic Ethi, Garay Gara, Georgian Geor,
Glagolitic Glag, Gothic Goth, Grantha Gran, Greek Grek, Gujarati Gujr, Gunjala_Gondi Gong,
Gurmukhi Guru, Gurung_Khema Gukh, Han Hani, Hangul Hang, Hanifi_Rohingya Rohg, Hanunoo Hano,
Hatran Hatr, Hebrew Hebr, Hiragana Hira, Imperial_Aramaic Armi, Inherited Zinh Qaai,
Inscriptional_Pahlavi Phli, Inscriptional_Parthian Prti, Javanese Java, Kaithi Kthi, Kannada Knda,
Katakana Kana, Kawi, Kayah_Li Kali, Kharoshthi Khar, Khitan_Small_Script Kits, Khmer Khmr,
Khojki Khoj, Khudawadi Sind, Kirat_Rai Krai, Lao Laoo, Latin Latn, Lepcha Lepc, Limbu Limb,
Linear_A Lina, Linear_B Linb, Lisu, Lycian Lyci, Lydian Lydi, Mahajani Mahj, Makasar Maka,
Malayalam Mlym, Mandaic Mand, Manichaean Mani, Marchen Marc, Masaram_Gondi Gonm, Medefaidrin Medf,
Meetei_Mayek Mtei, Mende_Kikakui Mend, Meroitic_Cursive Merc, Meroitic_Hieroglyphs Mero,
Miao Plrd, Modi, Mongolian Mong, Mro Mroo, Multani Mult, Myanmar Mymr, Nabataean Nbat,
Nag_Mundari Nagm, Nandinagari Nand, New_Tai_Lue Talu, Newa, Nko Nkoo, Nushu Nshu,
Nyiakeng_Puachue_Hmong Hmnp, Ogham Ogam, Ol_Chiki Olck, Ol_Onal Onao, Old_Hungarian Hung,
Old_Italic Ital, Old_North_Arabian Narb, Old_Permic Perm, Old_Persian Xpeo, Old_Sogdian Sogo,
Old_South_Arabian Sarb, Old_Turkic Orkh, Old_Uyghur Ougr, Oriya Orya, Osage Osge, Osmanya Osma,
Pahawh_Hmong Hmng, Palmyrene Palm, Pau_Cin_Hau Pauc, Phags_Pa Phag, Phoenician Phnx,
Psalter_Pahlavi Phlp, Rejang Rjng, Runic Runr, Samaritan Samr, Saurashtra Saur, Sharada Shrd,
Shavian Shaw, Siddham Sidd, Sidetic Sidt, SignWriting Sgnw, Sinhala Sinh, Sogdian Sogd,
Sora_Sompeng Sora, Soyombo Soyo, Sundanese Sund, Sunuwar Sunu, Syloti_Nagri Sylo, Syriac Syrc,
Tagalog Tglg, Tagbanwa Tagb, Tai_Le Tale, Tai_Tham Lana, Tai_Viet Tavt, Tai_Yo Tayo, Takri Takr,
Tamil Taml, Tangsa Tnsa, Tangut Tang, Telugu Telu, Thaana Thaa, Thai, Tibetan Tibt, Tifinagh Tfng,
Tirhuta Tirh, Todhri Todr, Tolong_Siki Tols, Toto, Tulu_Tigalari Tutg, Ugaritic Ugar,
Unknown Zzzz, Vai Vaii, Vithkuqi Vith, Wancho Wcho, Warang_Citi Wara, Yezidi Yezi, Yi Yiii,
Zanabazar_Square Zanb
""")


def find_property(name: str, value: str | None) -> Ranges:
    r"""Return the code points of `\p{name}` or `\p{name=value}`.

    Raises LookupError where ECMA-262 has no such property or value.
    """
    match name, value:
        case _, None if name in GENERAL_CATEGORIES:
            return list_members(f"gc={GENERAL_CATEGORIES[name]}")
        case _, None:
            return list_members(BINARY_PROPERTIES[name])
        case (("General_Category" | "gc"), str()):
            return list_members(f"gc={GENERAL_CATEGORIES[value]}")
        case (("Script" | "sc"), str()):
            return list_members(f"sc={SCRIPTS[value]}")
        case (("Script_Extensions" | "scx"), str()):
            script = SCRIPTS[value]
            extended = f"scx={script}"
            return list_members(extended if extended in read_data() else f"sc={script}")
    raise LookupError(name)


# Unbounded, since there are only a few hundred properties.
@cache
def list_members(name: str) -> Ranges:
    """Return the ranges of a property that the data has under *name*."""
    numbers = map(ord, read_data()[name])
    ends = list(accumulate(numbers))
    return tuple(zip(ends[::2], ends[1::2], strict=True))


@cache
def read_data() -> dict[str, str]:
    """Return the packed ranges of each property."""
    packed = zlib.decompress(base64.b64decode(PACKED)).decode("utf-8", "surrogatepass")
    index, _, numbers = packed.partition("\n")
    data, start = {}, 0
    for entry in index.split():
        name, _, length = entry.rpartition(":")
        data[name] = numbers[start : start + int(length)]
        start += int(length)
    return data
