"""What scenes are furnished with: furniture, plants, vehicles, buildings, weather."""
