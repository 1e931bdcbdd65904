"""The names of months in the languages that dates are most often written in, without accents, in Latin letters."""

from __future__ import annotations

from typing import Final

# English, German, French, Spanish, Italian, Dutch, Portuguese, the Scandinavian languages; Polish, Czech and Slovak,
# Hungarian, Romanian, Finnish, Turkish; Russian, Ukrainian, Bulgarian, Serbian and Greek in transliteration. Roman
# numbers.
_NAMES = (
    "jan i january januar janner jaenner janvier enero ene gennaio gen januari janeiro styczen stycznia leden ledna "
    "januara ianuarie tammikuu tammikuuta ocak oca yanvar yanvarya yanv sichen sichnya yanuari ianoyarios "
    "ianoyarioy ian",
    "feb ii february februar fevrier fev febrero febbraio februari fevereiro luty lutego unor unora februara februarie "
    "helmikuu helmikuuta subat sub fevral fevralya lyutii lyutogo fevruari fevroyarios fevroyarioy",
    "mar iii march marz maerz mrz mrt mars marzo maart marco marzec marca brezen brezna marec marcius martie maaliskuu "
    "maaliskuuta mart marta berezen bereznya martios martioy",
    "apr iv april avril avr abril abr aprile kwiecien kwietnia duben dubna aprila aprilis aprilie huhtikuu huhtikuuta "
    "nisan nis aprel aprelya kviten kvitnya aprilios aprilioy",
    "may v mai mayo maggio mag mei maio maj maja kveten kvetna majus toukokuu toukokuuta mayis maya traven travnya "
    "maios maioy",
    "jun vi june juni juin junio giugno giu junho czerwiec czerwca cerven cervna juna junius iunie kesakuu kesakuuta "
    "haziran haz iyun iyunya cherven chervnya yuni ioynios ioynioy ioyn",
    "jul vii july juli juillet juil julio luglio lug julho lipiec lipca cervenec cervence jula julius iulie heinakuu "
    "heinakuuta temmuz tem iyul iyulya lipen lipnya yuli ioylios ioylioy ioyl",
    "aug viii august aout agosto ago augustus augusti sierpien sierpnia srpen srpna augusta augusztus elokuu elokuuta "
    "agustos agu avgust avgusta avg serpen serpnya aygoystos aygoystoy ayg",
    "sep ix sept september septembre septiembre settembre set setembro wrzesien wrzesnia zari septembra szeptember "
    "septembrie syyskuu syyskuuta eylul eyl sentyabr sentyabrya sen sent veresen veresnya septemvri septembar "
    "septemvrios septemvrioy",
    "oct x october oktober okt octobre octubre ottobre ott outubro out pazdziernik pazdziernika rijen rijna oktobra "
    "octombrie lokakuu lokakuuta ekim eki oktyabr oktyabrya zhovten zhovtnya oktomvri oktobar oktovrios oktovrioy",
    "nov xi november novembre noviembre novembro listopad listopada listopadu novembra noiembrie marraskuu marraskuuta "
    "kasim kas noyabr noyabrya noya noemvri novembar noemvrios noemvrioy noe",
    "dec xii december dezember dez decembre diciembre dic dicembre dezembro grudzien grudnia prosinec prosince "
    "decembra decembrie joulukuu joulukuuta aralik ara dekabr dekabrya dek gruden grudnya dekemvri detsembar "
    "dekemvrios dekemvrioy",
)
MONTHS: Final[dict[str, int]] = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
